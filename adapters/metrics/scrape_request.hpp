#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// The head of an HTTP request for metrics, as far as anybody looks at it.
/// Source: RFC 9112, "Request Line", "Field Syntax"; RFC 9110, "Accept".
struct scrape_request {
  /// Such as `GET`.
  std::string method;

  /// The target without its query: `/metrics`. Begins with a slash.
  std::string path;

  /// What follows the question mark, as it came.
  std::string query;

  /// The fields Accept, with commas between; empty: anything.
  std::string accept;
};

/// Where the head of a request ends, with the empty line behind it; nothing as
/// long as that has not come.
/// @param from How many bytes have been looked at before.
std::optional<size_t> end_of_head(std::string_view bytes, size_t from = 0);

/// Reads a head with its empty line.
/// @returns nothing for what is no request of HTTP/1, for a target that is no
///          path, and for one with a body: nobody here takes any.
std::optional<scrape_request> parse_scrape_request(std::string_view head);

} // namespace troupe
