#pragma once

#include "messages/actors.hpp"

namespace troupe {

class thread_pool;

/// The state of a CLEANER actor.
struct cleaner_state {
  static inline const char* name = "cleaner";
};

/// Removes files and directories on a thread of `pool`. Everything is done
/// relative to descriptors: a path that is swapped meanwhile leads nowhere
/// else. Source: CVE-2023-41915; guarantees, attack X7.
cleaner_actor::behavior_type
cleaner(cleaner_actor::stateful_pointer<cleaner_state> self, thread_pool* pool);

/// Removes paths, if they belong to the calling user; follows no link. A path
/// that is no directory and has `leave_top` stays, and all that leads to it.
void remove_all(const std::vector<cleanup_path>& paths);

} // namespace troupe
