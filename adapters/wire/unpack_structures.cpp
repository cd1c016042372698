#include "adapters/wire/structures.hpp"
#include "adapters/wire/unpack_value.hpp"

#include <charconv>

namespace troupe::wire {

// -- parts -------------------------------------------------------------------

std::optional<std::string> unpack_string(reader& r) {
  if (const auto x = r.string())
    return std::string{*x};
  return std::nullopt;
}

double unpack_double(reader& r) {
  const auto text = r.string_or_empty();
  auto result = 0.0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, result);
  if (r.ok() && (stop != end || error != std::errc{}))
    r.fail("the text of a floating-point number is none");
  return result;
}

timeval_value unpack_timeval(reader& r) {
  const auto seconds = r.signed_integer(8);
  return {seconds, r.signed_integer(8)};
}

uint32_t unpack_pid(reader& r) {
  r.inner_tag(data_type::pid);
  return static_cast<uint32_t>(r.unsigned_integer(4));
}

proc_id unpack_proc(reader& r) {
  auto x = proc_id{};
  x.nspace = std::string{r.nspace()};
  x.rank = static_cast<uint32_t>(r.unsigned_integer(4));
  return x;
}

// -- structures --------------------------------------------------------------

proc_info unpack_proc_info(reader& r) {
  auto x = proc_info{};
  x.proc = unpack_proc(r);
  x.hostname = unpack_string(r);
  x.executable_name = unpack_string(r);
  x.pid = unpack_pid(r);
  x.state = r.byte();
  return x;
}

envar unpack_envar(reader& r) {
  auto x = envar{};
  x.name = unpack_string(r);
  x.val = unpack_string(r);
  x.separator = r.byte();
  return x;
}

coord unpack_coord(reader& r) {
  auto x = coord{};
  x.view = r.byte();
  const auto n = r.count(data_type::uint32);
  x.coordinates = unpack_elements(r, n, [](reader& r) {
    return static_cast<uint32_t>(r.unsigned_integer(4));
  });
  return x;
}

regattr unpack_regattr(reader& r) {
  auto x = regattr{};
  x.name = unpack_string(r);
  x.key = std::string{r.key()};
  x.type = r.type_tag();
  const auto n = r.count32(data_type::string);
  x.description = unpack_elements(r, n, unpack_string);
  return x;
}

geometry unpack_geometry(reader& r) {
  auto x = geometry{};
  x.fabric = r.size();
  x.uuid = unpack_string(r);
  x.os_name = unpack_string(r);
  const auto n = r.count(data_type::coord);
  x.coordinates = unpack_elements(r, n, unpack_coord);
  return x;
}

endpoint unpack_endpoint(reader& r) {
  auto x = endpoint{};
  x.uuid = unpack_string(r);
  x.os_name = unpack_string(r);
  x.bytes = std::string{r.blob()};
  return x;
}

device unpack_device(reader& r) {
  auto x = device{};
  x.uuid = unpack_string(r);
  x.os_name = unpack_string(r);
  x.type = r.unsigned_integer(8);
  return x;
}

node_pid unpack_node_pid(reader& r) {
  auto x = node_pid{};
  x.hostname = unpack_string(r);
  x.node_id = static_cast<uint32_t>(r.unsigned_integer(4));
  x.pid = unpack_pid(r);
  return x;
}

proc_stats unpack_proc_stats(reader& r) {
  auto x = proc_stats{};
  x.node = unpack_string(r);
  x.proc = unpack_proc(r);
  x.pid = unpack_pid(r);
  x.cmd = unpack_string(r);
  x.state = r.byte();
  x.time = unpack_timeval(r);
  x.priority = static_cast<int32_t>(r.signed_integer(4));
  x.num_threads = static_cast<int16_t>(r.signed_integer(2));
  x.pss = unpack_double(r);
  x.vsize = unpack_double(r);
  x.rss = unpack_double(r);
  x.processor = static_cast<uint16_t>(r.signed_integer(2));
  x.sample_time = unpack_timeval(r);
  return x;
}

disk_stats unpack_disk_stats(reader& r) {
  auto x = disk_stats{};
  x.disk = unpack_string(r);
  for (auto* field :
       {&x.num_reads_completed, &x.num_reads_merged, &x.num_sectors_read,
        &x.milliseconds_reading, &x.num_writes_completed, &x.num_writes_merged,
        &x.num_sectors_written, &x.milliseconds_writing, &x.num_ios_in_progress,
        &x.milliseconds_io, &x.weighted_milliseconds_io})
    *field = r.unsigned_integer(8);
  return x;
}

net_stats unpack_net_stats(reader& r) {
  auto x = net_stats{};
  x.interface_name = unpack_string(r);
  for (auto* field :
       {&x.num_bytes_received, &x.num_packets_received, &x.num_receive_errors,
        &x.num_bytes_sent, &x.num_packets_sent, &x.num_send_errors})
    *field = r.unsigned_integer(8);
  return x;
}

node_stats unpack_node_stats(reader& r) {
  auto x = node_stats{};
  x.node = unpack_string(r);
  for (auto* field : {&x.load_average, &x.load_average_5, &x.load_average_15,
                      &x.total_memory, &x.free_memory, &x.buffers, &x.cached,
                      &x.swap_cached, &x.swap_total, &x.swap_free, &x.mapped})
    *field = unpack_double(r);
  x.sample_time = unpack_timeval(r);
  const auto num_disks = r.count(data_type::disk_stats);
  x.disks = unpack_elements(r, num_disks, unpack_disk_stats);
  const auto num_nets = r.count(data_type::net_stats);
  x.nets = unpack_elements(r, num_nets, unpack_net_stats);
  return x;
}

resource_unit unpack_resource_unit(reader& r) {
  auto x = resource_unit{};
  x.type = r.unsigned_integer(8);
  x.count = r.size();
  return x;
}

device_distance unpack_device_distance(reader& r) {
  auto x = device_distance{};
  x.uuid = unpack_string(r);
  x.os_name = unpack_string(r);
  x.type = r.unsigned_integer(8);
  x.min_distance = static_cast<uint16_t>(r.unsigned_integer(2));
  x.max_distance = static_cast<uint16_t>(r.unsigned_integer(2));
  return x;
}

std::optional<std::string> unpack_topology(reader& r) {
  auto xml = unpack_string(r);
  if (xml)
    r.bytes(topology_support_size);
  return xml;
}

} // namespace troupe::wire
