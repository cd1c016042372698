#pragma once

#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <optional>

namespace troupe {

class thread_pool;

/// What the kernel says of a process and its descendants.
/// @returns nothing if the process has ended.
std::optional<process_probe> probe(uint32_t pid);

/// The state of a PROCESS PROBE actor.
struct process_prober_state {
  static inline const char* name = "process-probe";
};

/// Looks at local processes on a thread of `pool`. A process that the launcher
/// has started is looked up there each time, so its number is never that of
/// another one.
/// @param launcher May be empty: then processes are known by number only.
process_probe_actor::behavior_type
process_prober(process_probe_actor::stateful_pointer<process_prober_state> self,
               thread_pool* pool, const process_launcher_actor& launcher);

} // namespace troupe
