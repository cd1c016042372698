#pragma once

#include "messages/proc_id.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe {

/// The ranks that a list of processes names, by namespace: each once, in
/// ascending order, `rank_wildcard` and the other reserved ones last. Whoever
/// names a process 60,000 times is not to cost more than one look at each.
std::map<std::string, std::vector<uint32_t>>
ranks_named(const std::vector<proc_id>& procs);

} // namespace troupe
