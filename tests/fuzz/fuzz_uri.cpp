// URIs and rendezvous files.

#include "adapters/wire/uri.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace troupe::wire;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  if (const auto x = parse_uri(input)) {
    const auto again = parse_uri(to_string(*x));
    require(again && to_string(*again) == to_string(*x), "a URI survives");
  }
  if (const auto x = parse_rendezvous(input)) {
    const auto again = parse_rendezvous(to_string(*x));
    require(again && to_string(*again) == to_string(*x),
            "a rendezvous file survives");
  }
}
