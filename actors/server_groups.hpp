#pragma once

// What the files actors/server_group*.cpp share.

#include "actors/server_state.hpp"

namespace troupe::server_internals {

using use = group_directory::use;
using open_group = group_directory::open_group;

/// The processes that a list names, ascending, each once. A namespace that
/// nobody knows has none.
std::vector<proc_id> spelt_out(server_state& state,
                               const std::vector<proc_id>& procs);

/// Why nobody may make a group of this name, if so. Source: RFC0033,
/// Description, Critical Note; PMIx Standard v5, PMIX_MAX_NSLEN.
caf::error id_refusal(server_state& state, const std::string& id);

/// Why these processes cannot be a group, if so.
caf::error procs_refusal(server_state& state, const std::string& id,
                         const std::vector<proc_id>& procs);

/// Why the directives of a call cannot be followed, if so: a time-out that is
/// no number. Source: edge case 171.
caf::error timeout_refusal(const std::vector<info>& directives);

/// Whether nobody is left who could lead the construction of a group: whoever
/// lives names nobody, and all of them are here.
bool is_leaderless(const server_state& state, const open_group& group);

/// Has a tracker let its construction fail, or go on without a process.
void tell_conflict(self_pointer self, const proc_id& proc,
                   const group_tracker_actor& tracker, const std::string& id);

/// Makes the tracker of a group.
/// @param nspace Whose process begins it.
/// @param written The participants as they were named.
open_group& open_tracker(self_pointer self, const group_key& key,
                         const std::string& nspace, bool is_counted,
                         const std::vector<proc_id>& participants,
                         std::vector<proc_id> written,
                         std::vector<uint32_t> hosts);

/// Tells the sessions of processes whether they may name a group.
void tell_sessions(
  self_pointer self, const std::string& id,
  const std::map<proc_id, std::shared_ptr<const std::vector<proc_id>>>& news);

} // namespace troupe::server_internals
