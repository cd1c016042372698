#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// What the values of a family are. Source: OpenMetrics 1.0, "Metric Types".
enum class metric_kind : uint8_t {
  /// Only grows, and begins anew with the daemon; its name ends in `_total`.
  counter,
  gauge,
  histogram,
};

/// A value, with what tells it from others of its family.
struct metric_sample {
  std::vector<std::pair<std::string, std::string>> labels;

  /// Of a histogram: the sum of what was measured.
  double value = 0;

  /// Of a histogram: how many of what was measured are at most `first`, for
  /// growing bounds; and how many there are in all.
  std::vector<std::pair<double, uint64_t>> buckets = {};
  uint64_t count = 0;
};

/// Samples of one name. Source: OpenMetrics 1.0, "MetricFamily".
struct metric_family {
  std::string name;

  /// A line of text, without quotation marks and backslashes.
  std::string help;
  metric_kind kind = metric_kind::gauge;
  std::vector<metric_sample> samples;
};

} // namespace troupe
