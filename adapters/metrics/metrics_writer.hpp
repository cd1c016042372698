#pragma once

#include "adapters/metrics/metrics_module.hpp"

#include <caf/expected.hpp>

#include <filesystem>
#include <functional>

namespace troupe {

/// Loads `libtroupe_metrics.so` of our own installation, for as long as the
/// process lives.
/// @param program The path of the program, without symbolic links.
/// @returns `not_found` in a sentence that says where it is not, or why it cannot
///          be used.
caf::expected<std::function<metrics_writer_function>>
load_metrics_writer(const std::filesystem::path& program);

} // namespace troupe
