#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

namespace troupe {

/// waitid(2) that neither waits nor is interrupted.
/// @returns whether there is such a child; `info.si_pid` is 0 if it has not
///          ended.
bool look_for_child(idtype_t type, id_t id, siginfo_t& info, int options = 0);

/// @returns whether there is any, dead or alive.
bool has_children();

/// @returns whether one of our children, dead or alive, is in the group.
bool has_children_in(pid_t group);

} // namespace troupe
