#include "adapters/c_values/convert.hpp"
#include "adapters/c_values/convert_in.hpp"

// The structures that hold no values.

namespace troupe::c_api {

namespace {

std::optional<std::string> maybe(const char* x) {
  if (x == nullptr)
    return std::nullopt;
  return std::string{x};
}

timeval_value time_of(const timeval& x) {
  return {x.tv_sec, x.tv_usec};
}

} // namespace

void c_reader::read(const pmix_proc_t& from, proc_id& to) {
  to.nspace = text_of(from.nspace);
  to.rank = from.rank;
}

void c_reader::read(const pmix_proc_info_t& from, proc_info& to) {
  read(from.proc, to.proc);
  to.hostname = maybe(from.hostname);
  to.executable_name = maybe(from.executable_name);
  to.pid = static_cast<uint32_t>(from.pid);
  to.state = from.state;
}

void c_reader::read(const pmix_envar_t& from, envar& to) {
  to.name = maybe(from.envar);
  to.val = maybe(from.value);
  to.separator = static_cast<uint8_t>(from.separator);
}

void c_reader::read(const pmix_coord_t& from, coord& to) {
  if (from.coord == nullptr && from.dims > 0)
    fail(status::bad_param, "coordinates are null");
  if (!ok())
    return;
  to.view = from.view;
  if (from.dims > 0)
    to.coordinates.assign(from.coord, from.coord + from.dims);
}

void c_reader::read(const pmix_regattr_t& from, regattr& to) {
  to.name = maybe(from.name);
  to.key = text_of(from.string);
  to.type = static_cast<data_type>(from.type);
  for (const auto& x : to_strings(from.description))
    to.description.emplace_back(x);
}

void c_reader::read(const pmix_geometry_t& from, geometry& to) {
  to.fabric = from.fabric;
  to.uuid = maybe(from.uuid);
  to.os_name = maybe(from.osname);
  list(from.coordinates, from.ncoords, to.coordinates);
}

void c_reader::read(const pmix_device_t& from, device& to) {
  to.uuid = maybe(from.uuid);
  to.os_name = maybe(from.osname);
  to.type = from.type;
}

void c_reader::read(const pmix_device_distance_t& from, device_distance& to) {
  to.uuid = maybe(from.uuid);
  to.os_name = maybe(from.osname);
  to.type = from.type;
  to.min_distance = from.mindist;
  to.max_distance = from.maxdist;
}

void c_reader::read(const pmix_endpoint_t& from, endpoint& to) {
  to.uuid = maybe(from.uuid);
  to.os_name = maybe(from.osname);
  to.bytes = blob(from.endpt.bytes, from.endpt.size);
}

void c_reader::read(const pmix_resource_unit_t& from, resource_unit& to) {
  to.type = from.type;
  to.count = from.count;
}

void c_reader::read(const pmix_node_pid_t& from, node_pid& to) {
  to.hostname = maybe(from.hostname);
  to.node_id = from.nodeid;
  to.pid = static_cast<uint32_t>(from.pid);
}

void c_reader::read(const pmix_proc_stats_t& from, proc_stats& to) {
  to.node = maybe(from.node);
  read(from.proc, to.proc);
  to.pid = static_cast<uint32_t>(from.pid);
  to.cmd = maybe(from.cmd);
  to.state = static_cast<uint8_t>(from.state);
  to.time = time_of(from.time);
  to.percent_cpu = from.percent_cpu;
  to.priority = from.priority;
  to.num_threads = static_cast<int16_t>(from.num_threads);
  to.pss = from.pss;
  to.vsize = from.vsize;
  to.rss = from.rss;
  to.peak_vsize = from.peak_vsize;
  to.processor = from.processor;
  to.sample_time = time_of(from.sample_time);
}

void c_reader::read(const pmix_disk_stats_t& from, disk_stats& to) {
  to.disk = maybe(from.disk);
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

void c_reader::read(const pmix_net_stats_t& from, net_stats& to) {
  to.interface_name = maybe(from.net_interface);
  to.num_bytes_received = from.num_bytes_recvd;
  to.num_packets_received = from.num_packets_recvd;
  to.num_receive_errors = from.num_recv_errs;
  to.num_bytes_sent = from.num_bytes_sent;
  to.num_packets_sent = from.num_packets_sent;
  to.num_send_errors = from.num_send_errs;
}

void c_reader::read(const pmix_node_stats_t& from, node_stats& to) {
  to.node = maybe(from.node);
  to.load_average = from.la;
  to.load_average_5 = from.la5;
  to.load_average_15 = from.la15;
  to.total_memory = from.total_mem;
  to.free_memory = from.free_mem;
  to.buffers = from.buffers;
  to.cached = from.cached;
  to.swap_cached = from.swap_cached;
  to.swap_total = from.swap_total;
  to.swap_free = from.swap_free;
  to.mapped = from.mapped;
  to.sample_time = time_of(from.sample_time);
  list(from.diskstats, from.ndiskstats, to.disks);
  list(from.netstats, from.nnetstats, to.nets);
}

} // namespace troupe::c_api
