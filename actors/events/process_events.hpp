#pragma once

#include "messages/event.hpp"
#include "messages/job.hpp"

#include <optional>
#include <string>

namespace troupe {

/// The signal that ended a process, among the infos of its event; an int. The
/// Standard has no key for it.
inline constexpr std::string_view exit_signal_key = "troupe.exit.signal";

/// What others are told of a job and of its processes. All of these come from
/// the resource manager: empty namespace and undefined rank. Only the affected
/// process is of type PROC among the infos, since Open MPI takes every such
/// info for a dead process; and only events that Open MPI survives reach
/// default handlers, since it aborts on any other.
/// Source: PMIx Standard v5, "Process-related events", "Job-specific events";
/// RFC0002, "Description"; Open MPI 4.1 to 5.0, default event handler.

/// A process has ended, in its own way or because it was told to.
/// @param was_told    Whether the job was being ended already.
/// @param recoverable Whether the job goes on without the process.
/// @param in_words    How it ended, for people; see `describe_end`.
/// @returns nothing for a state that is no end.
std::optional<event> make_end_event(const proc_changed& what, bool was_told,
                                    bool recoverable,
                                    const std::string& in_words);

/// A life of a process is over, and it is started again where it ran, for the
/// n-th time: PMIX_ERR_PROC_RESTART. The event holds how the life ended, and the
/// number (PMIX_REINCARNATION).
event make_restart_event(const proc_changed& what, uint32_t number,
                         const std::string& in_words);

/// A process has ended well, but without disconnecting: for those that it was
/// connected to. Source: PMIx Standard v5, "Connecting and Disconnecting
/// Processes".
event make_unsynced_event(const proc_changed& what);

/// A process goes on without a server: its connection broke, and it has not
/// ended since.
event make_lost_connection_event(const proc_id& proc);

/// The first process of a job runs (`job_start`), or all do
/// (`launch_complete`).
event make_job_event(status code, const std::string& nspace);

/// All processes of a job that were to stop for a debugger have done so.
/// @param breakpoint Where, as they call it; may be empty.
/// Source: PMIx Standard v5, PMIX_READY_FOR_DEBUG, PMIX_BREAKPOINT; PRRTE 4.1,
/// which tells the namespace by PMIX_NSPACE.
event make_stop_event(const std::string& nspace, const std::string& breakpoint);

/// A job is over everywhere.
event make_job_end_event(const job_ended& outcome);

/// A node is lost (`event_node_down`) or has left (`event_node_offline`).
event make_node_event(status code, const std::string& hostname);

} // namespace troupe
