#pragma once

#include "adapters/wire/reader.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

// Values as they stand inside of a PACK call or of each other: neither count
// nor type in front unless the comment says so.
// Source: OpenPMIx wire protocol, type encodings.

namespace troupe::wire {

/// A packed topology is its XML and, unless that is null, what hwloc says of
/// the abilities of the host: 6, 11 and 15 raw bytes with hwloc 2.9. They mean
/// nothing to us: we skip them and write zeros.
/// Source: OpenPMIx wire protocol, TOPO.
inline constexpr size_t topology_support_size = 6 + 11 + 15;

/// Reads what a value of type `x` consists of, after its inner tag.
value::storage unpack_data(reader& r, data_type x);

/// Reads a type tag and the value.
value unpack_value(reader& r);

info unpack_info(reader& r);
key_value unpack_key_value(reader& r);
pdata unpack_pdata(reader& r);
app unpack_app(reader& r);
query unpack_query(reader& r);

/// A string on the heap, or nothing.
std::optional<std::string> unpack_string(reader& r);

// -- structures --------------------------------------------------------------

proc_id unpack_proc(reader& r);
resource_unit unpack_resource_unit(reader& r);
device_distance unpack_device_distance(reader& r);

/// Its XML, or nothing.
std::optional<std::string> unpack_topology(reader& r);

// -- lists -------------------------------------------------------------------

/// Reads `n` elements with `f`. Of a client's the number is bounded (`reader`),
/// so there is room for all at once; else memory follows those that are there.
template <class F>
auto unpack_elements(reader& r, size_t n, F f) {
  auto result = std::vector<decltype(f(r))>{};
  result.reserve(r.from() == origin::client ? n : std::min<size_t>(n, 64));
  for (size_t i = 0; i < n && r.ok(); ++i)
    result.push_back(f(r));
  return result;
}

/// Reads PACK(SIZE n) and, unless n is 0, PACK(type[n]).
template <class F>
auto unpack_list(reader& r, data_type type, F f) {
  const auto n = r.packed_count(type);
  if (n > 0)
    r.pack_exactly(type, n);
  return unpack_elements(r, n, f);
}

/// `unpack_list` of INFO and of PROC.
std::vector<info> unpack_infos(reader& r);
std::vector<proc_id> unpack_procs(reader& r);

/// Reads PACK(KVAL) until the end.
std::vector<key_value> unpack_key_values(reader& r);

} // namespace troupe::wire
