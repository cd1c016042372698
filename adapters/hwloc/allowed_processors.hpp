#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace troupe {

/// @param thread The operating system's number of a thread; the process's own
///               is that of its first thread, 0 is the calling thread.
/// @returns the operating system's numbers of the processors that the thread
///          may run on, ascending; never empty. Asks the kernel, not hwloc:
///          takes a microsecond.
std::vector<uint32_t> allowed_processors(pid_t thread = 0);

} // namespace troupe
