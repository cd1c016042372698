// The greeting of a client. The first byte says in which pieces it arrives.

#include "adapters/wire/frame.hpp"
#include "adapters/wire/handshake.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>

using namespace troupe::wire;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  const auto step = std::max<size_t>(take_byte(input), 1);
  check_round_trip(
    input, false, [](std::string_view x) { return decode_hello(x); },
    [](const hello& x, std::string& out) {
      auto err = encode_hello(x, out);
      out.erase(0, std::min(out.size(), frame_header_size));
      return err;
    });
  // In pieces and with a header it must be the same.
  auto bytes = std::string{};
  const auto header = encode_header(
    {-1, tag_hello, static_cast<uint32_t>(input.size())}, byte_order::host);
  bytes.append(header.data(), header.size());
  bytes += input;
  auto reader = hello_reader{};
  auto accepted = false;
  for (size_t i = 0; i < bytes.size(); i += step) {
    const auto x = reader.push(std::string_view{bytes}.substr(i, step));
    if (!x)
      break;
    accepted = x->has_value();
  }
  require(accepted == static_cast<bool>(decode_hello(input)),
          "a greeting in pieces is the same greeting");
}
