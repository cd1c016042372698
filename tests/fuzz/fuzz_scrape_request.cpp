// Heads of HTTP requests, whole and in pieces.

#include "adapters/metrics/scrape_request.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  const auto end = end_of_head(input);
  auto in_pieces = std::optional<size_t>{};
  for (size_t had = 0; had < input.size() && !in_pieces;) {
    const auto now = std::min<size_t>(had + 3, input.size());
    in_pieces = end_of_head(input.substr(0, now), had);
    had = now;
  }
  require(end == in_pieces, "pieces make no difference");
  if (!end)
    return;
  const auto request = parse_scrape_request(input.substr(0, *end));
  if (!request)
    return;
  require(!request->method.empty(), "a method is one");
  require(request->path.front() == '/', "a path begins with a slash");
  require(request->path.find_first_of(" ?\r\n") == std::string::npos,
          "a path has neither query nor line end");
  require(request->accept.find_first_of("\r\n") == std::string::npos,
          "a field is a line");
}
