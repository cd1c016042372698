// Queries of HTTP requests, and addresses. The name that is looked for is what comes
// before the first line end.

#include "adapters/http/http_message.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  const auto end = std::min(input.find('\n'), input.size());
  const auto name = std::string{input.substr(0, end)};
  const auto query = std::string{input.substr(std::min(end + 1, input.size()))};
  const auto found = query_field(query, name);
  const auto count = std::count(query.begin(), query.end(), '&');
  if (found) {
    require(found->size() <= query.size(), "escapes make nothing longer");
    require(query.find(name + "=") != std::string::npos, "it has this name");
    require(!query_field(query + "&" + name + "=", name),
            "a second one makes it none");
  }
  // Whatever has no such field gets it, with all that can be in it.
  if (name.find_first_of("&=") == std::string::npos && count == 0
      && query.find('=') == std::string::npos) {
    auto escaped = name + "=";
    constexpr auto digits = std::string_view{"0123456789abcdef"};
    for (const auto x : query) {
      const auto byte = static_cast<unsigned char>(x);
      escaped += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    require(query_field("x&" + escaped, name) == query, "escapes are undone");
  }
  if (is_loopback(query))
    require(query.find_first_not_of("0123456789abcdefABCDEF.:")
              == std::string::npos,
            "an address is numeric");
}
