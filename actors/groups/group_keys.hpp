#pragma once

#include <string_view>

namespace troupe {

/// In the place of a snapshot: the log is over for all others.
inline constexpr std::string_view group_log_over = "over";

} // namespace troupe

/// Keys of our own in the events of groups and in what handlers answer.
namespace troupe::group_keys {

/// How those begin that servers and libraries tell each other.
inline constexpr std::string_view prefix = "troupe.grp.";

/// Which question an event asks (uint64); the verdict repeats it.
inline constexpr std::string_view round = "troupe.grp.round";

/// The status with which handlers ended (int32); in a LEADER_SELECTED event
/// without a leader, the error.
inline constexpr std::string_view status = "troupe.grp.status";

/// Which invitation (uint64): INVITED says it, the answer repeats it.
inline constexpr std::string_view invitation = "troupe.grp.invitation";

/// Who has accepted, and who has not answered yet, when a new leader takes an
/// invitation over (arrays of PROC).
inline constexpr std::string_view accepted = "troupe.grp.accepted";
inline constexpr std::string_view pending = "troupe.grp.pending";

/// By the name of which group a fence means its processes (string): a session
/// tells its server.
inline constexpr std::string_view fence = "troupe.grp.fence";

/// By which group (string) a process asks for what another of its members has
/// posted, whoever of them was to see it: a process tells its server.
inline constexpr std::string_view exchanged = "troupe.grp.exchanged";

/// A result of a handler that stands for the status of this name.
/// Source: RFC0033, Group_construct; reading A31.
inline constexpr std::string_view abort = "PMIX_GROUP_CONSTRUCT_ABORT";

} // namespace troupe::group_keys
