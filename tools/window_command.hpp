#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// Puts rank and job into the command of a window: `%r` is the rank, `%n` the
/// job, `%%` a percent sign. What means something to a shell in the name of a
/// job becomes an underscore.
std::string window_command(const std::string& command, uint32_t rank,
                           const std::string& nspace);

} // namespace troupe
