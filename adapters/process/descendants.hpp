#pragma once

#include "adapters/process/process_entries.hpp"

#include <sys/types.h>

#include <cstddef>
#include <set>
#include <string>

namespace troupe {

/// In the environment of whatever starts daemons.
inline constexpr auto daemon_variable = "TROUPE_STARTS_DAEMON=1";

/// Sends SIGKILL to the living descendants of this process that belong to a
/// job: members of its process groups, those whose environment names its
/// namespace, and what descends from either. Descendants whose parent ended
/// count, because this process adopts them.
/// A child that was started as the way to a daemon on another node, with
/// `daemon_variable` in its environment, is nobody's, nor is what it starts:
/// where several nodes are one machine, the daemons and their jobs are
/// descendants.
/// @param groups Process groups of the job.
/// @param others Children that belong to other jobs.
/// @param lists  Whether the kernel's lists of children may be used; otherwise
///               all processes are looked at.
/// @returns how many there were; call again until there is none.
size_t kill_descendants(const std::string& nspace,
                        const std::set<pid_t>& groups,
                        const std::set<pid_t>& others,
                        bool lists = kernel_lists_children());

} // namespace troupe
