#pragma once

// How CAF sees the values: included by messages/value.hpp, and by nobody else.

#include "messages/inspect.hpp"
#include "messages/value.hpp"

#include <caf/error.hpp>
#include <caf/sec.hpp>

namespace troupe {

TROUPE_INSPECT(timeval_value, x.seconds, x.microseconds)
TROUPE_INSPECT(info, x.key, x.flags, x.val)
TROUPE_INSPECT(key_value, x.key, x.val)
TROUPE_INSPECT(pdata, x.proc, x.key, x.val)
TROUPE_INSPECT(data_array, x.element_type, x.elements)
TROUPE_INSPECT(app, x.cmd, x.argv, x.env, x.cwd, x.max_procs, x.infos)
TROUPE_INSPECT(query, x.keys, x.qualifiers)
TROUPE_INSPECT(proc_info, x.proc, x.hostname, x.executable_name, x.pid, x.state)
TROUPE_INSPECT(envar, x.name, x.val, x.separator)
TROUPE_INSPECT(coord, x.view, x.coordinates)
TROUPE_INSPECT(regattr, x.name, x.key, x.type, x.description)
TROUPE_INSPECT(geometry, x.fabric, x.uuid, x.os_name, x.coordinates)
TROUPE_INSPECT(device_distance, x.uuid, x.os_name, x.type, x.min_distance,
               x.max_distance)
TROUPE_INSPECT(endpoint, x.uuid, x.os_name, x.bytes)
TROUPE_INSPECT(device, x.uuid, x.os_name, x.type)
TROUPE_INSPECT(resource_unit, x.type, x.count)
TROUPE_INSPECT(node_pid, x.hostname, x.node_id, x.pid)
TROUPE_INSPECT(proc_stats, x.node, x.proc, x.pid, x.cmd, x.state, x.time,
               x.percent_cpu, x.priority, x.num_threads, x.pss, x.vsize, x.rss,
               x.peak_vsize, x.processor, x.sample_time)
TROUPE_INSPECT(disk_stats, x.disk, x.num_reads_completed, x.num_reads_merged,
               x.num_sectors_read, x.milliseconds_reading,
               x.num_writes_completed, x.num_writes_merged,
               x.num_sectors_written, x.milliseconds_writing,
               x.num_ios_in_progress, x.milliseconds_io,
               x.weighted_milliseconds_io)
TROUPE_INSPECT(net_stats, x.interface_name, x.num_bytes_received,
               x.num_packets_received, x.num_receive_errors, x.num_bytes_sent,
               x.num_packets_sent, x.num_send_errors)
TROUPE_INSPECT(node_stats, x.node, x.load_average, x.load_average_5,
               x.load_average_15, x.total_memory, x.free_memory, x.buffers,
               x.cached, x.swap_cached, x.swap_total, x.swap_free, x.mapped,
               x.sample_time, x.disks, x.nets)

/// Counts how deep the loading of a value has gone on this thread.
class depth_guard {
public:
  depth_guard() {
    ++depth();
  }

  ~depth_guard() {
    --depth();
  }

  depth_guard(const depth_guard&) = delete;
  depth_guard& operator=(const depth_guard&) = delete;

  bool too_deep() const {
    return depth() > max_value_depth;
  }

private:
  static int& depth() {
    static thread_local int instance = 0;
    return instance;
  }
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, value& x) {
  if constexpr (Inspector::writes_state) {
    const auto guard = depth_guard{};
    if (guard.too_deep())
      return caf::make_error(caf::sec::invalid_argument,
                             "a value is nested too deeply");
    return f(caf::meta::type_name("troupe.value"), x.type, x.data);
  } else {
    return f(caf::meta::type_name("troupe.value"), x.type, x.data);
  }
}

} // namespace troupe
