#pragma once

#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <cstdint>

namespace troupe {

class thread_pool;

/// @param pid A process; 0 stands for the calling one.
/// @returns its proportional set size in bytes; the resident size if the kernel
///          does not tell; 0 if it is gone.
uint64_t memory_of(uint32_t pid);

/// The state of a USAGE actor.
struct usage_state {
  static inline const char* name = "usage";
};

/// Samples on a thread of `pool`: for memory, the kernel walks the page tables.
/// Refused with `resource_busy` if the pool is full.
usage_actor::behavior_type
usage(usage_actor::stateful_pointer<usage_state> self, thread_pool* pool);

} // namespace troupe
