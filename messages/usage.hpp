#pragma once

#include "messages/inspect.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace troupe {

/// Asks how much memory local processes use.
struct sample_memory {
  /// 0 stands for the daemon itself.
  std::vector<uint32_t> pids;
};

TROUPE_MESSAGE(sample_memory, x.pids)

/// Answers `sample_memory`, one number per process asked for, in its order.
struct memory_samples {
  /// Proportional set size in bytes; 0 for a process that is gone.
  std::vector<uint64_t> bytes;
};

TROUPE_MESSAGE(memory_samples, x.bytes)

} // namespace troupe
