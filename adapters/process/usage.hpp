#pragma once

#include "messages/actors.hpp"
#include "messages/value.hpp"

#include <caf/stateful_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the kernel says of the use of resources, as text. A process chooses its
// own name, and the root of the tree is a setting: what makes no sense is
// absent. Source: proc(5).

namespace troupe {

namespace defaults {

/// Disks, and networks, in one sample.
inline constexpr size_t usage_devices = 1024;

} // namespace defaults

class thread_pool;

/// What is in /proc/PID/stat.
struct process_stat {
  /// As the process calls itself; control characters are `?`.
  std::string name;
  char state = '?';

  /// CPU time, and the start after the boot, in ticks.
  uint64_t cpu_ticks = 0;
  uint64_t start_ticks = 0;

  int32_t priority = 0;
  uint32_t threads = 0;
  uint32_t processor = 0;
};

std::optional<process_stat> parse_process_stat(std::string_view text);

/// The number of bytes behind a name, in a text with lines like `VmRSS: 12 kB`:
/// /proc/PID/status, /proc/PID/smaps_rollup, /proc/meminfo.
std::optional<uint64_t> bytes_named(std::string_view text,
                                    std::string_view name);

/// The first number of /proc/uptime: seconds since the boot.
std::optional<double> parse_uptime(std::string_view text);

/// Sets the averages. @param text /proc/loadavg. @returns whether it has them.
bool parse_load(std::string_view text, node_stats& to);

/// Sets what concerns memory, in MB. @param text /proc/meminfo.
/// @returns whether it says how much there is.
bool parse_memory(std::string_view text, node_stats& to);

/// At most `defaults::usage_devices`.
/// @param text /proc/diskstats.
/// @param names Which disks; empty: those that are no parts of others and have
///              hardware, such as `sda`, `nvme0n1`, with their partitions.
std::vector<disk_stats> parse_disks(std::string_view text,
                                    const std::vector<std::string>& names);

/// At most `defaults::usage_devices`.
/// @param text /proc/net/dev.
/// @param names Which interfaces; empty: all.
std::vector<net_stats> parse_nets(std::string_view text,
                                  const std::vector<std::string>& names);

/// @param pid A process; 0 stands for the calling one.
/// @returns its proportional set size in bytes; the resident size if the kernel
///          does not tell; 0 if it is gone.
uint64_t memory_of(uint32_t pid);

/// The state of a USAGE actor.
struct usage_state {
  static inline const char* name = "usage";
};

/// Samples on a thread of `pool`: for memory, the kernel walks the page tables.
/// Refused with `resource_busy` if the pool is full.
usage_actor::behavior_type
usage(usage_actor::stateful_pointer<usage_state> self, thread_pool* pool);

} // namespace troupe
