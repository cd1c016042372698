#include "adapters/hwloc/allowed_processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <thread>

namespace troupe {

namespace {

struct deleter {
  void operator()(cpu_set_t* x) const {
    CPU_FREE(x);
  }
};

/// The most processors a kernel can be built for, with room to spare.
constexpr size_t max_cpus = 65536;

} // namespace

std::vector<uint32_t> allowed_processors(pid_t thread) {
  std::vector<uint32_t> result;
  // The kernel refuses a set that is smaller than its own.
  for (size_t count = CPU_SETSIZE; count <= max_cpus; count *= 2) {
    const auto set = std::unique_ptr<cpu_set_t, deleter>{CPU_ALLOC(count)};
    const auto size = CPU_ALLOC_SIZE(count);
    if (set == nullptr)
      break;
    CPU_ZERO_S(size, set.get());
    if (sched_getaffinity(thread, size, set.get()) != 0) {
      if (errno == EINVAL)
        continue;
      break;
    }
    for (uint32_t i = 0; i < count; ++i)
      if (CPU_ISSET_S(i, size, set.get()))
        result.push_back(i);
    break;
  }
  if (result.empty()) // No Linux kernel answers like that.
    for (uint32_t i = 0; i < std::max(1u, std::thread::hardware_concurrency());
         ++i)
      result.push_back(i);
  return result;
}

} // namespace troupe
