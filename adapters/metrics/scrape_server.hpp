#pragma once

#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/metrics/scrape_request.hpp"
#include "adapters/sockets/acceptor.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class event_loop;

/// What a request is answered with.
struct scrape_reply {
  /// 200, 404 or 503; the server itself answers 400, 405 and 431.
  unsigned status = 200;

  /// The media type of the body.
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

/// A reply that is one line of text.
scrape_reply scrape_text(unsigned status, std::string_view text);

/// The bytes of a reply. Source: RFC 9112, "Status Line"; RFC 9110.
/// @param has_body Whether the body goes with it; not for HEAD.
std::string encode(const scrape_reply& x, bool has_body);

/// Answers HTTP requests to read, GET and HEAD, one on each connection: who asks
/// every few seconds needs no connection that stays. Every wait and every size
/// is bounded; of too many connections the oldest that has not asked makes room, and
/// the oldest if all have: those who say nothing keep out nobody, and cut off
/// nobody who is being answered. Reads no bodies, knows no user, and speaks plain
/// text: what it says is for all who can reach it. For the thread of the loop
/// only.
class scrape_server {
public:
  struct bounds {
    size_t connections = 16;

    /// Of a request, to its empty line.
    size_t head_bytes = 8192;

    /// How long a connection has from its beginning to the last byte of the
    /// answer.
    std::chrono::milliseconds patience{10'000};

    /// Descriptors that it leaves to the rest of the process.
    size_t descriptors_in_reserve = acceptor::bounds{}.descriptors_in_reserve;
  };

  /// Takes the answer, at once or later, on the thread of the loop; of several
  /// the first counts. It does nothing once the connection, or the server, is
  /// gone.
  using responder = std::function<void(const scrape_reply&)>;

  using handler = std::function<void(const scrape_request&, responder)>;

  /// @param loop Must outlive the server.
  /// @param doors Listening sockets that do not block.
  scrape_server(event_loop& loop, std::vector<unique_fd> doors,
                const bounds& limits, handler answer);

  ~scrape_server();

  scrape_server(const scrape_server&) = delete;
  scrape_server& operator=(const scrape_server&) = delete;

  /// Those that are open.
  size_t connections() const noexcept {
    return connections_.size();
  }

private:
  struct connection;

  void make_room();
  void open(unique_fd socket);
  void take(uint64_t id, std::string_view bytes);
  void reply(uint64_t id, const scrape_reply& what, bool has_body);
  void drop(uint64_t id);
  void bury(uint64_t id);

  event_loop& loop_;
  bounds bounds_;
  handler answer_;

  /// The oldest first.
  std::map<uint64_t, std::unique_ptr<connection>> connections_;
  uint64_t last_id_ = 0;

  /// Those that are over, until no callback of theirs runs.
  std::vector<std::unique_ptr<connection>> dead_;
  timer burial_;
  acceptor acceptor_;

  /// Tells responders whether we are still there.
  std::shared_ptr<scrape_server*> alive_;
};

} // namespace troupe
