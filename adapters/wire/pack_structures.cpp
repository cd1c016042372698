#include "adapters/wire/structures.hpp"

#include <charconv>

namespace troupe::wire {

// -- parts -------------------------------------------------------------------

void pack_double(writer& w, double x) {
  // The longest finite number has 309 digits before the point and six after.
  char buffer[352];
  const auto result = std::to_chars(std::begin(buffer), std::end(buffer), x,
                                    std::chars_format::fixed, 6);
  w.string({buffer, static_cast<size_t>(result.ptr - buffer)});
}

void pack_timeval(writer& w, const timeval_value& x) {
  w.signed_integer(x.seconds, 8);
  w.signed_integer(x.microseconds, 8);
}

void pack_pid(writer& w, uint32_t x) {
  w.inner_tag(data_type::pid);
  w.unsigned_integer(x, 4);
}

/// Released readers of the flex family take a DATA_TYPE for a signed number.
void pack_data_type(writer& w, uint64_t x) {
  if (w.rules().signed_data_type && !w.is_fixed() && x <= UINT16_MAX)
    w.signed_integer(static_cast<int16_t>(x), 2);
  else
    w.unsigned_integer(x, 2);
}

void pack_proc(writer& w, const proc_id& x) {
  w.nspace(x.nspace);
  w.unsigned_integer(x.rank, 4);
}

// -- structures --------------------------------------------------------------

void pack_proc_info(writer& w, const proc_info& x) {
  pack_proc(w, x.proc);
  w.string(x.hostname);
  w.string(x.executable_name);
  pack_pid(w, x.pid);
  w.byte(x.state);
}

void pack_envar(writer& w, const envar& x) {
  w.string(x.name);
  w.string(x.val);
  w.byte(x.separator);
}

void pack_coord(writer& w, const coord& x) {
  w.byte(x.view);
  w.size(x.coordinates.size());
  for (auto number : x.coordinates)
    w.unsigned_integer(number, 4);
}

void pack_regattr(writer& w, const regattr& x) {
  w.string(x.name);
  w.key(x.key);
  pack_data_type(w, static_cast<uint16_t>(x.type));
  w.signed_integer(static_cast<int64_t>(x.description.size()), 4);
  for (const auto& line : x.description)
    w.string(line);
}

void pack_geometry(writer& w, const geometry& x) {
  w.size(x.fabric);
  w.string(x.uuid);
  w.string(x.os_name);
  w.size(x.coordinates.size());
  for (const auto& y : x.coordinates)
    pack_coord(w, y);
}

void pack_endpoint(writer& w, const endpoint& x) {
  w.string(x.uuid);
  w.string(x.os_name);
  w.blob(x.bytes);
}

void pack_device(writer& w, const device& x) {
  w.string(x.uuid);
  w.string(x.os_name);
  w.unsigned_integer(x.type, 8);
}

void pack_node_pid(writer& w, const node_pid& x) {
  w.string(x.hostname);
  w.unsigned_integer(x.node_id, 4);
  pack_pid(w, x.pid);
}

void pack_proc_stats(writer& w, const proc_stats& x) {
  w.string(x.node);
  pack_proc(w, x.proc);
  pack_pid(w, x.pid);
  w.string(x.cmd);
  w.byte(x.state);
  pack_timeval(w, x.time);
  w.signed_integer(x.priority, 4);
  w.signed_integer(x.num_threads, 2);
  pack_double(w, x.pss);
  pack_double(w, x.vsize);
  pack_double(w, x.rss);
  w.signed_integer(static_cast<int16_t>(x.processor), 2);
  pack_timeval(w, x.sample_time);
}

void pack_disk_stats(writer& w, const disk_stats& x) {
  w.string(x.disk);
  for (auto number :
       {x.num_reads_completed, x.num_reads_merged, x.num_sectors_read,
        x.milliseconds_reading, x.num_writes_completed, x.num_writes_merged,
        x.num_sectors_written, x.milliseconds_writing, x.num_ios_in_progress,
        x.milliseconds_io, x.weighted_milliseconds_io})
    w.unsigned_integer(number, 8);
}

void pack_net_stats(writer& w, const net_stats& x) {
  w.string(x.interface_name);
  for (auto number :
       {x.num_bytes_received, x.num_packets_received, x.num_receive_errors,
        x.num_bytes_sent, x.num_packets_sent, x.num_send_errors})
    w.unsigned_integer(number, 8);
}

void pack_node_stats(writer& w, const node_stats& x) {
  w.string(x.node);
  for (auto number : {x.load_average, x.load_average_5, x.load_average_15,
                      x.total_memory, x.free_memory, x.buffers, x.cached,
                      x.swap_cached, x.swap_total, x.swap_free, x.mapped})
    pack_double(w, number);
  pack_timeval(w, x.sample_time);
  w.size(x.disks.size());
  for (const auto& y : x.disks)
    pack_disk_stats(w, y);
  w.size(x.nets.size());
  for (const auto& y : x.nets)
    pack_net_stats(w, y);
}

void pack_resource_unit(writer& w, const resource_unit& x) {
  w.unsigned_integer(x.type, 8);
  w.size(x.count);
}

void pack_device_distance(writer& w, const device_distance& x) {
  w.string(x.uuid);
  w.string(x.os_name);
  w.unsigned_integer(x.type, 8);
  w.unsigned_integer(x.min_distance, 2);
  w.unsigned_integer(x.max_distance, 2);
}

void pack_topology(writer& w, const std::optional<std::string>& xml) {
  w.string(xml);
  if (xml)
    for (size_t i = 0; i < topology_support_size; ++i)
      w.byte(0);
}

} // namespace troupe::wire
