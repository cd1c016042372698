#pragma once

#include "messages/data.hpp"
#include "messages/status.hpp"

namespace troupe {

/// Starts a job. Source: PMIx Standard v5, `PMIx_Spawn`.
struct spawn_request {
  std::vector<info> job_infos;
  std::vector<app> apps;
};

TROUPE_MESSAGE(spawn_request, x.job_infos, x.apps)

/// The key of a directive of ours in `spawn_request::job_infos`: an array of
/// infos that become data of the job's level, readable by all its processes.
/// Reserved keys are left out, but for PMIX_JOB_CTRL_RESTART.
inline constexpr std::string_view preset_data = "troupe.preset";

/// The key of a directive of ours in `spawn_request::job_infos`: an array of
/// STRING, the names of the nodes that the processes had by rank. They are put
/// there if all of these nodes have room; otherwise as if it were not given.
inline constexpr std::string_view wanted_hosts = "troupe.hosts";

struct spawn_result {
  std::string nspace;

  /// Data of the new job for the requester's store; may be empty.
  std::vector<key_value> entries;

  /// Data of its ranks, likewise.
  std::vector<rank_data> ranks;
};

TROUPE_MESSAGE(spawn_result, x.nspace, x.entries, x.ranks)

/// Ends processes. Source: PMIx Standard v5, `PMIx_Abort`.
struct abort_request {
  /// The exit status the requester gives.
  int32_t exit_status = 0;
  std::optional<std::string> message;

  /// None: the requester's whole namespace.
  std::vector<proc_id> procs;
};

TROUPE_MESSAGE(abort_request, x.exit_status, x.message, x.procs)

} // namespace troupe
