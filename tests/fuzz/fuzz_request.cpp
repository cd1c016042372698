// The requests of a client. The first byte chooses the dialect.

#include "adapters/wire/requests.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace troupe::wire;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  const auto& d = take_dialect(input);
  check_round_trip(
    input, is_symmetric(d),
    [&](std::string_view x) { return decode_request(x, d); },
    [&](const request& x, std::string& out) {
      return encode_request(x, d, out);
    });
}
