#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// The local time, `2025-11-20T16:43:59.123+01:00`.
/// @param at Nanoseconds since 1970; 0: now.
std::string local_time(int64_t at = 0);

} // namespace troupe
