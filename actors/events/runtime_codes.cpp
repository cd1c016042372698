#include "actors/events/runtime_codes.hpp"

#include "messages/attributes.hpp"

#include <algorithm>

namespace troupe {

bool is_of_runtime(status code) {
  switch (code) {
    case status::proc_aborted:
    case status::proc_requested_abort:
    case status::lost_connection:
    case status::lost_connection_to_server:
    case status::lost_connection_to_client:
    case status::proc_terminated:
    case status::job_end:
    case status::launch_complete:
    case status::job_killed_by_cmd:
    case status::job_term_wo_sync:
    case status::job_start:
    case status::session_start:
    case status::session_end:
    case status::proc_term_wo_sync:
    case status::event_proc_terminated:
    case status::event_node_down:
    case status::event_node_offline:
    case status::proc_killed_by_cmd:
    case status::proc_failed_to_start:
    case status::proc_aborted_by_sig:
    case status::exit_nonzero_term:
    case status::proc_restart:
      return true;
    default:
      return false;
  }
}

bool may_raise(const requester& who, const notify_request& what) {
  // The server's own requests have no connection.
  if (who.index == 0 || is_tool(who.role) || !is_of_runtime(what.code))
    return true;
  if (const auto* targets = find(what.infos, attr::event_custom_range)) {
    const auto procs = procs_of(*targets);
    return std::all_of(procs.begin(), procs.end(), [&](const proc_id& x) {
      return x.nspace == who.proc.nspace;
    });
  }
  return what.range == data_range::proc_local || what.range == data_range::local
         || what.range == data_range::nspace;
}

} // namespace troupe
