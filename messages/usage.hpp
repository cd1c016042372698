#pragma once

#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/inspect.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace troupe {

/// Asks how much memory local processes use.
struct sample_memory {
  /// 0 stands for the daemon itself.
  std::vector<uint32_t> pids;
};

TROUPE_MESSAGE(sample_memory, x.pids)

/// Answers `sample_memory`, one number per process asked for, in its order.
struct memory_samples {
  /// Proportional set size in bytes; 0 for a process that is gone.
  std::vector<uint64_t> bytes;
};

TROUPE_MESSAGE(memory_samples, x.bytes)

/// Asks how processes, the node, its disks and its networks use resources.
/// Source: PMIX_MONITOR_PROC_RESOURCE_USAGE and its neighbours.
struct sample_usage {
  /// Processes of this node, at most `defaults::usage_procs`.
  std::vector<uint32_t> pids;

  /// Whether the proportional memory of the processes is wanted, which costs
  /// the kernel a walk over their page tables.
  bool pss = false;

  bool node = false;
  bool disks = false;
  bool nets = false;

  /// Which disks and networks; empty: all.
  std::vector<std::string> disk_names;
  std::vector<std::string> net_names;
};

TROUPE_MESSAGE(sample_usage, x.pids, x.pss, x.node, x.disks, x.nets,
               x.disk_names, x.net_names)

/// Answers `sample_usage`. What cannot be read is absent.
struct usage_samples {
  /// Those that are there, in the order asked; `pid` says which. Memory is in
  /// MB, `state` is the letter that the kernel gives, `percent_cpu` is CPU time
  /// by time since the start.
  std::vector<proc_stats> procs;

  /// Without disks and nets.
  std::optional<node_stats> node;

  std::vector<disk_stats> disks;
  std::vector<net_stats> nets;

  /// When, in seconds since the epoch.
  int64_t taken = 0;
};

TROUPE_MESSAGE(usage_samples, x.procs, x.node, x.disks, x.nets, x.taken)

/// Asks the host of another node for the use of resources there, once.
/// Answered with `info_result`.
struct sample_elsewhere {
  requester who;

  /// As it was asked, but without a rate.
  monitor_request what;
};

TROUPE_MESSAGE(sample_elsewhere, x.who, x.what)

} // namespace troupe
