#pragma once

#include "messages/value.hpp"

// Fields of the structures of the Standard, once: `each_field(f, x, &x)` shows
// the fields of `x` to `f`, in their order on the wire. A field whose C++ type
// does not say how it travels has a name for that:
//
//     f(...)         as its type says
//     f.key          a text of at most 511 bytes
//     f.nspace       a text of at most 255 bytes
//     f.command      a text; null stands for none
//     f.strings      a list with a count of four bytes
//     f.keys         the same, of keys that a query names
//     f.blob         bytes with their length
//     f.size         a SIZE
//     f.pid          a PID, with its inner tag
//     f.as_signed    an unsigned number that travels as a signed one
//     f.tag          no field: an inner tag
//
// Source: OpenPMIx wire protocol, type encodings.

namespace troupe {

template <class F, class X>
void each_field(F& f, X& x, const timeval_value*) {
  f(x.seconds, x.microseconds);
}

template <class F, class X>
void each_field(F& f, X& x, const proc_id*) {
  f.nspace(x.nspace);
  f(x.rank);
}

template <class F, class X>
void each_field(F& f, X& x, const info*) {
  f.key(x.key);
  f(x.flags, x.val);
}

template <class F, class X>
void each_field(F& f, X& x, const key_value*) {
  f.key(x.key);
  f(x.val);
}

template <class F, class X>
void each_field(F& f, X& x, const pdata*) {
  f(x.proc);
  f.key(x.key);
  f(x.val);
}

template <class F, class X>
void each_field(F& f, X& x, const app*) {
  f.command(x.cmd);
  f.tag(data_type::int_);
  f.strings(x.argv);
  f.strings(x.env);
  f(x.cwd);
  f.tag(data_type::int_);
  f(x.max_procs, x.infos);
}

template <class F, class X>
void each_field(F& f, X& x, const query*) {
  f.keys(x.keys);
  f(x.qualifiers);
}

template <class F, class X>
void each_field(F& f, X& x, const proc_info*) {
  f(x.proc, x.hostname, x.executable_name);
  f.pid(x.pid);
  f(x.state);
}

template <class F, class X>
void each_field(F& f, X& x, const envar*) {
  f(x.name, x.val, x.separator);
}

template <class F, class X>
void each_field(F& f, X& x, const coord*) {
  f(x.view, x.coordinates);
}

template <class F, class X>
void each_field(F& f, X& x, const regattr*) {
  f(x.name);
  f.key(x.key);
  f(x.type);
  f.strings(x.description);
}

template <class F, class X>
void each_field(F& f, X& x, const geometry*) {
  f.size(x.fabric);
  f(x.uuid, x.os_name, x.coordinates);
}

template <class F, class X>
void each_field(F& f, X& x, const device_distance*) {
  f(x.uuid, x.os_name, x.type, x.min_distance, x.max_distance);
}

template <class F, class X>
void each_field(F& f, X& x, const endpoint*) {
  f(x.uuid, x.os_name);
  f.blob(x.bytes);
}

template <class F, class X>
void each_field(F& f, X& x, const device*) {
  f(x.uuid, x.os_name, x.type);
}

template <class F, class X>
void each_field(F& f, X& x, const resource_unit*) {
  f(x.type);
  f.size(x.count);
}

template <class F, class X>
void each_field(F& f, X& x, const node_pid*) {
  f(x.hostname, x.node_id);
  f.pid(x.pid);
}

/// The share of the processor and the peak of memory do not travel.
template <class F, class X>
void each_field(F& f, X& x, const proc_stats*) {
  f(x.node, x.proc);
  f.pid(x.pid);
  f(x.cmd, x.state, x.time, x.priority, x.num_threads, x.pss, x.vsize, x.rss);
  f.as_signed(x.processor);
  f(x.sample_time);
}

template <class F, class X>
void each_field(F& f, X& x, const disk_stats*) {
  f(x.disk, x.num_reads_completed, x.num_reads_merged, x.num_sectors_read,
    x.milliseconds_reading, x.num_writes_completed, x.num_writes_merged,
    x.num_sectors_written, x.milliseconds_writing, x.num_ios_in_progress,
    x.milliseconds_io, x.weighted_milliseconds_io);
}

template <class F, class X>
void each_field(F& f, X& x, const net_stats*) {
  f(x.interface_name, x.num_bytes_received, x.num_packets_received,
    x.num_receive_errors, x.num_bytes_sent, x.num_packets_sent,
    x.num_send_errors);
}

template <class F, class X>
void each_field(F& f, X& x, const node_stats*) {
  f(x.node, x.load_average, x.load_average_5, x.load_average_15, x.total_memory,
    x.free_memory, x.buffers, x.cached, x.swap_cached, x.swap_total,
    x.swap_free, x.mapped, x.sample_time, x.disks, x.nets);
}

// -- types -------------------------------------------------------------------

/// A type as an argument.
template <class T>
struct type_tag {
  using type = T;
};

/// Calls `f` with the `type_tag` of the structure that a value of type `x`
/// keeps in a box; arrays are not among them.
/// @returns whether there is one.
template <class F>
bool visit_structure(data_type x, F f) {
#define TROUPE_CASE(name, structure)                                           \
  case data_type::name:                                                        \
    f(type_tag<structure>{});                                                  \
    return true;
  switch (x) {
    TROUPE_CASE(value, value)
    TROUPE_CASE(app, app)
    TROUPE_CASE(info, info)
    TROUPE_CASE(pdata, pdata)
    TROUPE_CASE(kval, key_value)
    TROUPE_CASE(proc_info, proc_info)
    TROUPE_CASE(query, query)
    TROUPE_CASE(envar, envar)
    TROUPE_CASE(coord, coord)
    TROUPE_CASE(regattr, regattr)
    TROUPE_CASE(geometry, geometry)
    TROUPE_CASE(device_distance, device_distance)
    TROUPE_CASE(endpoint, endpoint)
    TROUPE_CASE(device, device)
    TROUPE_CASE(resource_unit, resource_unit)
    TROUPE_CASE(node_pid, node_pid)
    TROUPE_CASE(proc_stats, proc_stats)
    TROUPE_CASE(disk_stats, disk_stats)
    TROUPE_CASE(net_stats, net_stats)
    TROUPE_CASE(node_stats, node_stats)
    default:
      return false;
  }
#undef TROUPE_CASE
}

} // namespace troupe
