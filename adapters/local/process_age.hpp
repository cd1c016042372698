#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

namespace troupe {

/// When process `pid` was started, to the second.
/// @returns nothing if there is no such process. Two answers that differ belong
///          to two processes, of which the later was given the number anew.
std::optional<time_t> started_at(uint32_t pid);

} // namespace troupe
