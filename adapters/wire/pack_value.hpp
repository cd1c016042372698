#pragma once

#include "adapters/wire/writer.hpp"
#include "messages/value.hpp"

#include <optional>
#include <string>
#include <vector>

// Values as they stand inside of a PACK call or of each other: neither count
// nor type in front unless the comment says so.
// Source: OpenPMIx wire protocol, type encodings.

namespace troupe::wire {

/// Writes what a value of type `x` consists of, without its inner tag.
void pack_data(writer& w, data_type x, const value::storage& data);

/// Writes a type tag and the value. A compressed string becomes a plain one
/// unless the dialect says otherwise.
void pack_value(writer& w, const value& x);

void pack_info(writer& w, const info& x);
void pack_key_value(writer& w, const key_value& x);
void pack_pdata(writer& w, const pdata& x);
void pack_app(writer& w, const app& x);
void pack_query(writer& w, const query& x);

// -- structures --------------------------------------------------------------

void pack_proc(writer& w, const proc_id& x);
void pack_resource_unit(writer& w, const resource_unit& x);
void pack_device_distance(writer& w, const device_distance& x);

/// Its XML, or nothing.
void pack_topology(writer& w, const std::optional<std::string>& xml);

// -- lists -------------------------------------------------------------------

/// Writes PACK(SIZE n) and, unless n is 0, PACK(type[n]).
template <class T>
void pack_list(writer& w, data_type type, const std::vector<T>& xs,
               void (*f)(writer&, const T&)) {
  w.packed_size(xs.size());
  if (xs.empty())
    return;
  w.pack(type, xs.size());
  for (const auto& x : xs)
    f(w, x);
}

/// `pack_list` of INFO and of PROC. Infos may be left out (see `unreadable`).
void pack_infos(writer& w, const std::vector<info>& xs);
void pack_procs(writer& w, const std::vector<proc_id>& xs);

/// Writes a PACK(KVAL) for each. They may be left out (see `unreadable`).
void pack_key_values(writer& w, const std::vector<key_value>& xs);

/// Calls `f`, which writes PACK calls, and turns them into PACK(BYTE_OBJECT).
template <class F>
void pack_byte_object(writer& w, F f) {
  w.pack(data_type::byte_object);
  w.preceded(f, [&w](size_t n) { w.size(n); });
}

} // namespace troupe::wire
