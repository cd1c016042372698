#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// Puts rank and job into the command of a window: `%r` is the rank, `%n` the
/// job, `%%` a percent sign.
std::string window_command(const std::string& command, uint32_t rank,
                           const std::string& nspace);

} // namespace troupe
