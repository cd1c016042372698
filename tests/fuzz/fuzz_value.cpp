// One PACK call of values. The first byte chooses the dialect, the second the
// type.

#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/unpack_value.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <optional>

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::fuzz;

namespace {

using values = std::vector<value>;

std::optional<values> unpack(std::string_view input, data_type type,
                             const dialect& d) {
  auto r = reader{input, d, origin::server};
  const auto n = r.pack(type);
  auto result = unpack_elements(r, n, [type](reader& r) {
    return value{type, unpack_data(r, type)};
  });
  r.expect_end();
  if (!r.ok())
    return std::nullopt;
  return result;
}

bool fails_to_pack(const values& xs, data_type type, const dialect& d,
                   std::string& out) {
  auto w = writer{out, d};
  w.pack(type, xs.size());
  for (const auto& x : xs)
    pack_data(w, type, x.data);
  return static_cast<bool>(w.finish());
}

} // namespace

TROUPE_FUZZ(input) {
  const auto& d = take_dialect(input);
  const auto type = static_cast<data_type>(take_byte(input));
  check_round_trip(
    input, is_symmetric(d),
    [&](std::string_view x) { return unpack(x, type, d); },
    [&](const values& xs, std::string& out) {
      return fails_to_pack(xs, type, d, out);
    });
}
