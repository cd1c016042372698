#pragma once

#include "adapters/metrics/latency_histogram.hpp"
#include "adapters/metrics/metric_family.hpp"
#include "messages/mesh.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

/// Peers of a node that have series of their own; the others share one.
inline constexpr size_t metric_peers = 64;

/// Networks of such a peer that have.
inline constexpr size_t metric_networks = 16;

} // namespace defaults

/// What a daemon says of itself beside its `mesh_status`.
struct daemon_facts {
  std::string version;

  /// The name of its DVM, or of its server if it is alone.
  std::string dvm;

  /// Processor time that it has taken.
  std::chrono::nanoseconds cpu_time{0};

  /// When it began to tell metrics, in seconds since 1970.
  double start_time = 0;

  /// Descriptors that it has, and may have.
  uint64_t descriptors = 0;
  uint64_t most_descriptors = 0;

  /// How late its loop does what is due.
  latency_histogram loop_latency;
};

/// Makes metrics of what a node says of itself. No job and no user is named in
/// them, and the number of their series is bounded: by the names of gauges, of
/// `defaults::metric_peers` peers, and of `defaults::metric_networks` networks to
/// each. Families without samples are left out. Source: docs/metrics.md; guarantees 5.9, LOAD-2.
std::vector<metric_family> node_metrics(const mesh_status& node,
                                        const daemon_facts& daemon);

} // namespace troupe
