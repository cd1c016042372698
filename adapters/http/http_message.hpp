#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// What comes over HTTP and what goes back. Source: RFC 9110.

namespace troupe {

/// A request, as far as we read it: of its headers those that somebody looks at, and
/// nothing of its body.
struct http_request {
  std::string method;

  /// Without the query, its escapes taken out and its dots resolved.
  std::string path;

  /// As it came: what follows the first `?`.
  std::string query;

  /// Headers; empty: it has none.
  std::string host;
  std::string authorization;
};

/// The answer to a request.
struct http_answer {
  int status = 200;

  /// Of the body, `Content-Type`.
  std::string type;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  /// An answer without an end: waits for what is to be written next, a second at
  /// most; nothing: it is over. Called on the thread of the connection. Empty: the
  /// body is all.
  std::function<std::optional<std::string>()> more;
};

/// The value of a field in a query, with its escapes taken out.
/// @returns nothing if there is none of that name, if there are several, or if it
///          cannot be read. Source: WHATWG URL, application/x-www-form-urlencoded.
std::optional<std::string> query_field(const std::string& query,
                                       const std::string& name);

/// Whether an address is a numeric one of loopback: 127.0.0.0/8 or `::1`.
bool is_loopback(const std::string& address);

/// The text of a status, such as `Not Found`.
const char* http_reason(int status);

} // namespace troupe
