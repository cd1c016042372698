#pragma once

#include "adapters/wire/reader.hpp"
#include "adapters/wire/writer.hpp"
#include "messages/value.hpp"

#include <optional>
#include <string>

// The structures that hold no values, and the parts that structures share:
// neither count nor type in front. Those that hold values are in pack_value.hpp
// and unpack_value.hpp.
// Source: OpenPMIx wire protocol, type encodings.

namespace troupe::wire {

/// A packed topology is its XML and, unless that is null, what hwloc says of
/// the abilities of the host: 6, 11 and 15 raw bytes with hwloc 2.9. They mean
/// nothing to us: we skip them and write zeros.
/// Source: OpenPMIx wire protocol, TOPO.
inline constexpr size_t topology_support_size = 6 + 11 + 15;

// -- parts -------------------------------------------------------------------

/// FLOAT and DOUBLE travel as decimal text with six digits after the point.
double unpack_double(reader& r);
void pack_double(writer& w, double x);

timeval_value unpack_timeval(reader& r);
void pack_timeval(writer& w, const timeval_value& x);

/// With its inner tag.
uint32_t unpack_pid(reader& r);
void pack_pid(writer& w, uint32_t x);

/// Released readers of the flex family take a DATA_TYPE for a signed number
/// (see `dialect::signed_data_type`).
void pack_data_type(writer& w, uint64_t x);

proc_id unpack_proc(reader& r);
void pack_proc(writer& w, const proc_id& x);

// -- structures --------------------------------------------------------------

proc_info unpack_proc_info(reader& r);
void pack_proc_info(writer& w, const proc_info& x);

envar unpack_envar(reader& r);
void pack_envar(writer& w, const envar& x);

coord unpack_coord(reader& r);
void pack_coord(writer& w, const coord& x);

regattr unpack_regattr(reader& r);
void pack_regattr(writer& w, const regattr& x);

geometry unpack_geometry(reader& r);
void pack_geometry(writer& w, const geometry& x);

endpoint unpack_endpoint(reader& r);
void pack_endpoint(writer& w, const endpoint& x);

device unpack_device(reader& r);
void pack_device(writer& w, const device& x);

node_pid unpack_node_pid(reader& r);
void pack_node_pid(writer& w, const node_pid& x);

resource_unit unpack_resource_unit(reader& r);
void pack_resource_unit(writer& w, const resource_unit& x);

device_distance unpack_device_distance(reader& r);
void pack_device_distance(writer& w, const device_distance& x);

proc_stats unpack_proc_stats(reader& r);
void pack_proc_stats(writer& w, const proc_stats& x);

disk_stats unpack_disk_stats(reader& r);
void pack_disk_stats(writer& w, const disk_stats& x);

net_stats unpack_net_stats(reader& r);
void pack_net_stats(writer& w, const net_stats& x);

node_stats unpack_node_stats(reader& r);
void pack_node_stats(writer& w, const node_stats& x);

/// Its XML, or nothing.
std::optional<std::string> unpack_topology(reader& r);
void pack_topology(writer& w, const std::optional<std::string>& xml);

} // namespace troupe::wire
