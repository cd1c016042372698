#pragma once

#include "adapters/http/http_message.hpp"
#include "messages/proc_id.hpp"
#include "tools/page_board.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace troupe {

/// Answers what browsers ask of the page, all of which only reads:
///
///     /        the page itself, which holds nothing of the DVM and needs no key
///     /live    what `page_board::watcher` tells, without an end
///     /state   all of it, once
///     /lines   what a process has written last; /usage, how it uses its node;
///              /stack, where it is: of ?job=NAMESPACE&rank=N
///
/// Whoever has the key of the page may ask, by `Authorization: Bearer KEY`: other
/// users of the node reach its loopback, too. A key is neither in an address, which
/// others may read in a log, nor in a cookie, which a browser sends for others' pages.
/// Source: RFC 6750, sections 2.1 and 5.3.
class page_service {
public:
  /// What is asked of the DVM for each request; called on the thread of the request.
  /// An object, whose member `error` says what has gone wrong, if anything has.
  struct questions {
    std::function<nlohmann::json(const proc_id&)> lines;
    std::function<nlohmann::json(const proc_id&)> usage;
    std::function<nlohmann::json(const proc_id&)> stack;
  };

  struct settings {
    std::string key;

    /// Whether it is reached by TLS, under whatever name. If not, names that are none
    /// of loopback are refused: a page of somebody else may have such a name lead here.
    bool has_tls = false;
    questions ask;
  };

  page_service(page_board& board, settings x);

  http_answer answer(const http_request& x) const;

private:
  http_answer find_answer(const http_request& x) const;
  http_answer live() const;
  http_answer
  of_process(const http_request& x,
             const std::function<nlohmann::json(const proc_id&)>& ask) const;

  page_board& board_;
  settings settings_;
};

/// As many bytes by chance, in hexadecimal digits; empty: the system gives none.
std::string random_digits(size_t bytes);

/// Whether a `Host` names this node's loopback.
bool names_loopback(std::string_view host);

} // namespace troupe
