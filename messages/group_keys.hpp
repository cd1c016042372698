#pragma once

#include <string_view>

// What the servers of groups and the library tell each other in events, beside
// what the Standard names. Programs may pass over it.

namespace troupe {

/// Of an event that asks its handlers (uint64): which question. What they
/// decide goes to the server as an event of the code `group_verdict`, with the
/// same key. Source: RFC0033, the results array of handlers.
inline constexpr std::string_view group_round_key = "troupe.grp.round";

/// In a verdict (status): with what the handlers ended.
inline constexpr std::string_view group_status_key = "troupe.grp.status";

/// Of an event of an invitation (uint64): which; answers repeat it. Only servers
/// that keep the invitation's log add it.
inline constexpr std::string_view group_invitation_key =
  "troupe.grp.invitation";

/// In PMIX_GROUP_LEADER_SELECTED (processes): who has accepted an invitation,
/// and whose answer is awaited.
inline constexpr std::string_view group_accepted_key = "troupe.grp.accepted";
inline constexpr std::string_view group_pending_key = "troupe.grp.pending";

} // namespace troupe
