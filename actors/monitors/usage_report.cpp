#include "actors/monitors/usage_report.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

value time_value(int64_t seconds) {
  return {data_type::time,
          static_cast<uint64_t>(std::max<int64_t>(seconds, 0))};
}

/// Collects the infos of one array.
class builder {
public:
  explicit builder(const usage_request& request) : request_(request) {
    // nop
  }

  /// Always.
  void put(std::string_view key, value x) {
    infos_.push_back({std::string{key}, 0, std::move(x)});
  }

  void put_node(const usage_node& node) {
    put(attr::hostname, value::string(node.hostname));
    if (node.id)
      put(attr::nodeid, value::uint32(*node.id));
  }

  /// If it is wanted.
  void add(std::string_view key, value x) {
    if (request_.wants(key))
      put(key, std::move(x));
  }

  void add(std::string_view key, uint64_t x) {
    add(key, value::uint64(x));
  }

  void add(std::string_view key, double x) {
    add(key, value{data_type::float_, x});
  }

  info finish(std::string_view key) {
    return {std::string{key}, 0, value::infos(std::move(infos_))};
  }

private:
  const usage_request& request_;
  std::vector<info> infos_;
};

info report(const usage_request& request, const proc_stats& x, int64_t taken,
            const usage_node& node) {
  auto out = builder{request};
  out.put(attr::procid, value::of_proc(x.proc));
  out.put(attr::proc_pid, value::pid(x.pid));
  out.put(attr::hostname, value::string(node.hostname));
  out.add(attr::cmd_line, value::string(x.cmd.value_or("")));
  out.add(attr::proc_os_state,
          value::string(std::string(1, static_cast<char>(x.state))));
  out.add(attr::proc_time, value{data_type::timeval, x.time});
  out.add(attr::proc_percent_cpu, x.percent_cpu);
  out.add(attr::proc_priority,
          value{data_type::int32, static_cast<int64_t>(x.priority)});
  out.add(attr::proc_num_threads,
          value::uint16(static_cast<uint16_t>(x.num_threads)));
  out.add(attr::proc_cpu, value::uint16(x.processor));
  out.add(attr::proc_peak_vsize, x.peak_vsize);
  out.add(attr::proc_vsize, x.vsize);
  out.add(attr::proc_rss, x.rss);
  // Not everybody may know it, and a process that ends has none.
  if (x.pss > 0)
    out.add(attr::proc_pss, x.pss);
  out.put(attr::proc_sample_time, time_value(taken));
  return out.finish(attr::proc_resource_usage);
}

info report(const usage_request& request, const disk_stats& x, int64_t taken,
            const usage_node& node) {
  auto out = builder{request};
  out.put(attr::disk_id, value::string(x.disk.value_or("")));
  out.put(attr::hostname, value::string(node.hostname));
  out.add(attr::disk_read_completed, x.num_reads_completed);
  out.add(attr::disk_read_merged, x.num_reads_merged);
  out.add(attr::disk_read_sectors, x.num_sectors_read);
  out.add(attr::disk_read_millisec, x.milliseconds_reading);
  out.add(attr::disk_write_completed, x.num_writes_completed);
  out.add(attr::disk_write_merged, x.num_writes_merged);
  out.add(attr::disk_write_sectors, x.num_sectors_written);
  out.add(attr::disk_write_millisec, x.milliseconds_writing);
  out.add(attr::disk_io_in_progress, x.num_ios_in_progress);
  out.add(attr::disk_io_millisec, x.milliseconds_io);
  out.add(attr::disk_io_weighted, x.weighted_milliseconds_io);
  out.put(attr::disk_sample_time, time_value(taken));
  return out.finish(attr::disk_resource_usage);
}

info report(const usage_request& request, const net_stats& x, int64_t taken,
            const usage_node& node) {
  auto out = builder{request};
  out.put(attr::network_id, value::string(x.interface_name.value_or("")));
  out.put(attr::hostname, value::string(node.hostname));
  out.add(attr::net_recvd_bytes, x.num_bytes_received);
  out.add(attr::net_recvd_pckts, x.num_packets_received);
  out.add(attr::net_recvd_errs, x.num_receive_errors);
  out.add(attr::net_sent_bytes, x.num_bytes_sent);
  out.add(attr::net_sent_pckts, x.num_packets_sent);
  out.add(attr::net_sent_errs, x.num_send_errors);
  out.put(attr::net_sample_time, time_value(taken));
  return out.finish(attr::network_resource_usage);
}

void add_node(builder& out, const node_stats& x) {
  out.add(attr::node_load_avg, x.load_average);
  out.add(attr::node_load_avg5, x.load_average_5);
  out.add(attr::node_load_avg15, x.load_average_15);
  out.add(attr::node_mem_total, x.total_memory);
  out.add(attr::node_mem_free, x.free_memory);
  out.add(attr::node_mem_buffers, x.buffers);
  out.add(attr::node_mem_cached, x.cached);
  out.add(attr::node_mem_swap_cached, x.swap_cached);
  out.add(attr::node_swap_total, x.swap_total);
  out.add(attr::node_mem_swap_free, x.swap_free);
  out.add(attr::node_mem_mapped, x.mapped);
}

} // namespace

std::vector<info> usage_report(const usage_request& request,
                               const usage_samples& samples,
                               const usage_node& node) {
  auto result = std::vector<info>{};
  const auto taken = samples.taken;
  for (const auto& x : samples.procs)
    result.push_back(report(request, x, taken, node));
  auto devices = std::vector<info>{};
  for (const auto& x : samples.nets)
    devices.push_back(report(request, x, taken, node));
  for (const auto& x : samples.disks)
    devices.push_back(report(request, x, taken, node));
  if (request.subject != usage_subject::node) {
    std::move(devices.begin(), devices.end(), std::back_inserter(result));
    return result;
  }
  auto out = builder{request};
  out.put_node(node);
  if (samples.node)
    add_node(out, *samples.node);
  for (auto& x : devices)
    out.put(x.key, std::move(x.val));
  out.put(attr::node_sample_time, time_value(taken));
  result.push_back(out.finish(attr::node_resource_usage));
  return result;
}

} // namespace troupe
