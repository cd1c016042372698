#pragma once

#include "adapters/metrics/metric_family.hpp"

#include <string>
#include <vector>

namespace troupe {

/// Writes metrics as text, by prometheus-cpp.
/// @param is_open_metrics Whether it is that of OpenMetrics 1.0; if not, the
///                        older one of Prometheus, 0.0.4.
std::string metrics_text(const std::vector<metric_family>& families,
                         bool is_open_metrics);

} // namespace troupe
