#pragma once

#include "messages/group_entry.hpp"

#include <vector>

namespace troupe {

/// The processes in whose name something is said of a group: only their own
/// nodes may. Who does not listen, or does not answer, is spoken for by its
/// node, too; who has ended, how late it is and what has been so far, all may
/// know. Source: guarantees, X41.
std::vector<proc_id> speakers_of(const group_entry& what);

} // namespace troupe
