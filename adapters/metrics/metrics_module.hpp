#pragma once

#include "adapters/metrics/metric_family.hpp"

#include <string>
#include <vector>

// What libtroupe_metrics.so is to the programs that load it: it has
// prometheus-cpp, which no program of ours links.

namespace troupe {

/// Appends what `metrics_text` makes of metrics.
/// @returns whether it has; not for want of memory.
using metrics_writer_function = bool(const std::vector<metric_family>& families,
                                     bool is_open_metrics, std::string& to);

/// Its name. Changes with the types above.
inline constexpr auto metrics_writer_name = "troupe_write_metrics_1";

/// The file.
inline constexpr auto metrics_module_file = "libtroupe_metrics.so";

} // namespace troupe
