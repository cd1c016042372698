#include "actors/events/process_events.hpp"

#include "base/make_info.hpp"
#include "messages/attributes.hpp"

namespace troupe {

namespace {

void add(event& to, std::string_view key, value x) {
  to.infos.push_back(make_info(key, std::move(x)));
}

event make_event(status code) {
  auto result = event{};
  result.code = code;
  result.source = {"", rank_undef};
  result.range = data_range::nspace;
  return result;
}

event make_event(status code, const proc_id& affected) {
  auto result = make_event(code);
  add(result, attr::event_affected_proc, value::of_proc(affected));
  return result;
}

void hide_from_default_handlers(event& x) {
  add(x, attr::event_non_default, value::boolean(true));
}

/// The event for an end; nothing if it is none.
std::optional<status> code_of(const proc_changed& what, bool was_told) {
  switch (what.state) {
    case proc_state::terminated:
      return status::event_proc_terminated;
    case proc_state::killed_by_cmd:
      return status::proc_killed_by_cmd;
    case proc_state::aborted_by_sig:
      return was_told ? status::proc_killed_by_cmd
                      : status::proc_aborted_by_sig;
    case proc_state::term_wo_sync:
      return status::proc_term_wo_sync;
    case proc_state::term_non_zero:
      return status::exit_nonzero_term;
    case proc_state::called_abort:
      return status::proc_requested_abort;
    case proc_state::failed_to_start:
      return status::proc_failed_to_start;
    case proc_state::comm_failed:
    case proc_state::aborted:
    case proc_state::cannot_restart:
      return status::proc_aborted;
    default:
      return std::nullopt;
  }
}

/// What Open MPI's default handler takes for a failure that may be survived.
bool is_survivable(status code) {
  return code == status::proc_aborted || code == status::proc_aborted_by_sig
         || code == status::proc_term_wo_sync;
}

} // namespace

std::optional<event> make_end_event(const proc_changed& what, bool was_told,
                                    bool recoverable,
                                    const std::string& in_words) {
  const auto code = code_of(what, was_told);
  if (!code)
    return std::nullopt;
  auto result = make_event(*code, what.proc);
  // As launchers and shells have it.
  const auto exit_code = what.signal != 0 ? 128 + what.signal : what.exit_code;
  const auto has_run = what.state != proc_state::comm_failed
                       && what.state != proc_state::failed_to_start;
  if (has_run)
    add(result, attr::exit_code, value::integer(exit_code));
  if (what.signal != 0)
    add(result, exit_signal_key, value::integer(what.signal));
  if (*code != status::event_proc_terminated)
    add(result, attr::event_text_message, value::string(in_words));
  if (!recoverable || was_told || !is_survivable(*code))
    hide_from_default_handlers(result);
  return result;
}

event make_restart_event(const proc_changed& what, uint32_t number,
                         const std::string& in_words) {
  auto result = make_event(status::proc_restart, what.proc);
  add(result, attr::exit_code,
      value::integer(what.signal != 0 ? 128 + what.signal : what.exit_code));
  if (what.signal != 0)
    add(result, exit_signal_key, value::integer(what.signal));
  add(result, attr::reincarnation, value::uint32(number));
  add(result, attr::event_text_message,
      value::string(in_words + "; it is started again"));
  hide_from_default_handlers(result);
  return result;
}

event make_unsynced_event(const proc_changed& what) {
  auto result = make_event(status::proc_term_wo_sync, what.proc);
  add(result, attr::exit_code, value::integer(what.exit_code));
  add(result, attr::event_text_message,
      value::string("rank " + std::to_string(what.proc.rank)
                    + " has ended without disconnecting"));
  hide_from_default_handlers(result);
  return result;
}

event make_lost_connection_event(const proc_id& proc) {
  auto result = make_event(status::lost_connection, proc);
  add(result, attr::event_text_message,
      value::string("rank " + std::to_string(proc.rank)
                    + " has lost its connection to its server"));
  hide_from_default_handlers(result);
  return result;
}

event make_job_event(status code, const std::string& nspace) {
  auto result = make_event(code, {nspace, rank_wildcard});
  add(result, attr::nspace, value::string(nspace));
  hide_from_default_handlers(result);
  return result;
}

event make_stop_event(const std::string& nspace,
                      const std::string& breakpoint) {
  auto result = make_job_event(status::ready_for_debug, nspace);
  if (!breakpoint.empty())
    add(result, attr::breakpoint, value::string(breakpoint));
  return result;
}

event make_job_end_event(const job_ended& outcome) {
  auto result = make_job_event(status::job_end, outcome.nspace);
  add(result, attr::exit_code, value::integer(outcome.exit_status));
  // As PRRTE says it, whose tools end with it.
  add(result, attr::job_term_status, value::of_status(outcome.exit_status));
  if (!outcome.reason.empty())
    add(result, attr::event_text_message, value::string(outcome.reason));
  return result;
}

event make_node_event(status code, const std::string& hostname) {
  auto result = make_event(code);
  add(result, attr::hostname, value::string(hostname));
  hide_from_default_handlers(result);
  return result;
}

} // namespace troupe
