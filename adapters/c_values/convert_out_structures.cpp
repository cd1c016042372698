#include "adapters/c_values/convert.hpp"
#include "adapters/c_values/convert_out.hpp"

// The structures that hold no values.

namespace troupe::c_api {

namespace {

timeval time_of(const timeval_value& x) {
  return {x.seconds, x.microseconds};
}

} // namespace

void c_writer::write(const proc_id& from, pmix_proc_t& to) {
  to_c(from, to);
}

void c_writer::write(const proc_info& from, pmix_proc_info_t& to) {
  write(from.proc, to.proc);
  maybe_text(from.hostname, to.hostname);
  maybe_text(from.executable_name, to.executable_name);
  to.pid = static_cast<pid_t>(from.pid);
  to.state = from.state;
}

void c_writer::write(const envar& from, pmix_envar_t& to) {
  maybe_text(from.name, to.envar);
  maybe_text(from.val, to.value);
  to.separator = static_cast<char>(from.separator);
}

void c_writer::write(const coord& from, pmix_coord_t& to) {
  to.view = from.view;
  const auto n = from.coordinates.size();
  to.coord = checked<uint32_t>(n);
  if (to.coord == nullptr)
    return;
  to.dims = n;
  std::memcpy(to.coord, from.coordinates.data(), n * sizeof(uint32_t));
}

void c_writer::write(const regattr& from, pmix_regattr_t& to) {
  maybe_text(from.name, to.name);
  set_text(to.string, from.key);
  to.type = static_cast<pmix_data_type_t>(from.type);
  // A null pointer would end the list: a line that is null becomes empty.
  auto lines = std::vector<std::string>{};
  for (const auto& line : from.description)
    lines.push_back(line.value_or(""));
  strings(lines, to.description);
}

void c_writer::write(const geometry& from, pmix_geometry_t& to) {
  to.fabric = from.fabric;
  maybe_text(from.uuid, to.uuid);
  maybe_text(from.os_name, to.osname);
  list(from.coordinates, to.coordinates, to.ncoords);
}

void c_writer::write(const device& from, pmix_device_t& to) {
  maybe_text(from.uuid, to.uuid);
  maybe_text(from.os_name, to.osname);
  to.type = from.type;
}

void c_writer::write(const device_distance& from, pmix_device_distance_t& to) {
  maybe_text(from.uuid, to.uuid);
  maybe_text(from.os_name, to.osname);
  to.type = from.type;
  to.mindist = from.min_distance;
  to.maxdist = from.max_distance;
}

void c_writer::write(const endpoint& from, pmix_endpoint_t& to) {
  maybe_text(from.uuid, to.uuid);
  maybe_text(from.os_name, to.osname);
  bytes(from.bytes, to.endpt.bytes, to.endpt.size);
}

void c_writer::write(const resource_unit& from, pmix_resource_unit_t& to) {
  to.type = from.type;
  to.count = from.count;
}

void c_writer::write(const node_pid& from, pmix_node_pid_t& to) {
  maybe_text(from.hostname, to.hostname);
  to.nodeid = from.node_id;
  to.pid = static_cast<pid_t>(from.pid);
}

void c_writer::write(const proc_stats& from, pmix_proc_stats_t& to) {
  maybe_text(from.node, to.node);
  write(from.proc, to.proc);
  to.pid = static_cast<pid_t>(from.pid);
  maybe_text(from.cmd, to.cmd);
  to.state = static_cast<char>(from.state);
  to.time = time_of(from.time);
  to.percent_cpu = static_cast<float>(from.percent_cpu);
  to.priority = from.priority;
  to.num_threads = static_cast<uint16_t>(from.num_threads);
  to.pss = static_cast<float>(from.pss);
  to.vsize = static_cast<float>(from.vsize);
  to.rss = static_cast<float>(from.rss);
  to.peak_vsize = static_cast<float>(from.peak_vsize);
  to.processor = from.processor;
  to.sample_time = time_of(from.sample_time);
}

void c_writer::write(const disk_stats& from, pmix_disk_stats_t& to) {
  maybe_text(from.disk, to.disk);
  to.num_reads_completed = from.num_reads_completed;
  to.num_reads_merged = from.num_reads_merged;
  to.num_sectors_read = from.num_sectors_read;
  to.milliseconds_reading = from.milliseconds_reading;
  to.num_writes_completed = from.num_writes_completed;
  to.num_writes_merged = from.num_writes_merged;
  to.num_sectors_written = from.num_sectors_written;
  to.milliseconds_writing = from.milliseconds_writing;
  to.num_ios_in_progress = from.num_ios_in_progress;
  to.milliseconds_io = from.milliseconds_io;
  to.weighted_milliseconds_io = from.weighted_milliseconds_io;
}

void c_writer::write(const net_stats& from, pmix_net_stats_t& to) {
  maybe_text(from.interface_name, to.net_interface);
  to.num_bytes_recvd = from.num_bytes_received;
  to.num_packets_recvd = from.num_packets_received;
  to.num_recv_errs = from.num_receive_errors;
  to.num_bytes_sent = from.num_bytes_sent;
  to.num_packets_sent = from.num_packets_sent;
  to.num_send_errs = from.num_send_errors;
}

void c_writer::write(const node_stats& from, pmix_node_stats_t& to) {
  maybe_text(from.node, to.node);
  to.la = static_cast<float>(from.load_average);
  to.la5 = static_cast<float>(from.load_average_5);
  to.la15 = static_cast<float>(from.load_average_15);
  to.total_mem = static_cast<float>(from.total_memory);
  to.free_mem = static_cast<float>(from.free_memory);
  to.buffers = static_cast<float>(from.buffers);
  to.cached = static_cast<float>(from.cached);
  to.swap_cached = static_cast<float>(from.swap_cached);
  to.swap_total = static_cast<float>(from.swap_total);
  to.swap_free = static_cast<float>(from.swap_free);
  to.mapped = static_cast<float>(from.mapped);
  to.sample_time = time_of(from.sample_time);
  list(from.disks, to.diskstats, to.ndiskstats);
  list(from.nets, to.netstats, to.nnetstats);
}

} // namespace troupe::c_api
