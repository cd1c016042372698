#pragma once

#include "messages/mesh.hpp"
#include "messages/spawn.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <optional>

namespace troupe {

/// Daemons of a debugger that are to run where the processes of another job do.
/// Source: PMIx Standard v5, PMIX_DEBUGGER_DAEMONS.
struct debugger_daemons {
  /// Whom they debug: a job, or one process of it. PMIX_DEBUG_TARGET.
  proc_id target;

  /// So many on each node; 0: as `per_proc` says.
  /// PMIX_DEBUG_DAEMONS_PER_NODE, or PMIX_MAPBY as `ppr:N:node`.
  uint32_t per_node = 0;

  /// So many for each process. PMIX_DEBUG_DAEMONS_PER_PROC.
  uint32_t per_proc = 1;
};

/// Whom the processes of a job debug, which are told so: PMIX_DEBUG_TARGET, or
/// the older PMIX_DEBUG_JOB.
std::optional<proc_id> debug_target_of(const spawn_request& request);

/// Reads whether a job is one of daemons of a debugger.
/// @returns nothing if it is none; `bad_param` if nobody says whom they debug, or
///          for a number that is none; `not_supported` if they are a part of a
///          job, or somebody says where else they go.
caf::expected<std::optional<debugger_daemons>>
read_debugger_daemons(const spawn_request& request);

/// Puts them on the nodes of their target, however full these are, and bound to
/// no processor unless somebody says to which.
/// @param request Gets directives of mapping in the place of those that were
///                read. @pre It has one program.
/// @returns `not_found` if the target has no process.
caf::error put_beside(const debugger_daemons& daemons, const job_map& target,
                      spawn_request& request);

} // namespace troupe
