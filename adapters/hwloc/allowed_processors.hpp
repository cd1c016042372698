#pragma once

#include <cstdint>
#include <vector>

namespace troupe {

/// @returns the operating system's numbers of the processors that the calling
///          thread may run on, ascending; never empty. Asks the kernel, not
///          hwloc: takes a microsecond.
std::vector<uint32_t> allowed_processors();

} // namespace troupe
