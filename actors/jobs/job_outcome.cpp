#include "actors/jobs/job_outcome.hpp"

#include "base/escape.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace troupe {

namespace {

int32_t shell_status(const proc_outcome& x) {
  if (x.signal != 0)
    return 128 + x.signal;
  if (x.exit_code == 0 && x.state == proc_state::term_wo_sync)
    return 1;
  return x.exit_code;
}

std::string describe(const proc_outcome& x) {
  const auto rank = describe_process(x.rank, x.where);
  if (x.signal != 0)
    return rank + " was killed by " + describe_signal(x.signal);
  if (x.state == proc_state::term_wo_sync)
    return rank + " exited with status " + std::to_string(x.exit_code)
           + " without calling PMIx_Finalize (or MPI_Finalize)";
  return rank + " exited with status " + std::to_string(x.exit_code);
}

} // namespace

std::string describe_process(uint32_t rank, const proc_place& where) {
  auto detail = escape_control_characters(where.program);
  if (where.pid != 0)
    detail += (detail.empty() ? "pid " : ", pid ") + std::to_string(where.pid);
  if (!where.node.empty())
    detail +=
      (detail.empty() ? "on " : " on ") + escape_control_characters(where.node);
  const auto result = "rank " + std::to_string(rank);
  return detail.empty() ? result : result + " (" + detail + ")";
}

std::string describe_signal(int32_t signal) {
  const auto* name = ::sigabbrev_np(signal);
  const auto* text = ::sigdescr_np(signal);
  auto result = "signal " + std::to_string(signal);
  if (name != nullptr && text != nullptr)
    result += std::string{" (SIG"} + name + ", " + text + ")";
  return result;
}

proc_state final_state(const process_ended& what, bool connected,
                       bool finalized) {
  if (what.signal != 0)
    return proc_state::aborted_by_sig;
  if (connected && !finalized)
    return proc_state::term_wo_sync;
  return what.exit_code == 0 ? proc_state::terminated
                             : proc_state::term_non_zero;
}

bool is_failure(proc_state state, bool abort_non_zero) {
  if (state == proc_state::term_non_zero)
    return abort_non_zero;
  return state > proc_state::error;
}

std::string describe_end(const proc_changed& what) {
  const auto rank = "rank " + std::to_string(what.proc.rank);
  switch (what.state) {
    case proc_state::called_abort:
      return rank + " called PMIx_Abort";
    case proc_state::comm_failed:
      return "the node of " + rank + " was lost";
    case proc_state::failed_to_start:
      return rank + " was not started";
    default:
      return describe(
        {what.proc.rank, what.state, what.exit_code, what.signal, false, {}});
  }
}

void job_outcome::add(const proc_outcome& x) {
  if (x.was_told || x.state == proc_state::called_abort)
    return;
  worst_ = std::max(worst_, shell_status(x));
  if (reason_.empty() && is_failure(x.state, true))
    reason_ = describe(x);
}

void job_outcome::end(std::string reason, std::optional<int32_t> exit_status) {
  if (reason_.empty())
    reason_ = std::move(reason);
  if (!decided_)
    decided_ = exit_status;
}

void job_outcome::abort(uint32_t rank, int32_t exit_status,
                        const std::string& message, const proc_place& where) {
  if (reason_.empty()) {
    reason_ = describe_process(rank, where) + " called PMIx_Abort with status "
              + std::to_string(exit_status);
    if (!message.empty())
      reason_ += ": " + escape_control_characters(message);
  }
  // A shell sees eight bits, and an abort is never a success.
  const auto shown = exit_status & 0xff;
  if (!decided_)
    decided_ = shown != 0 ? shown : 1;
}

void job_outcome::lose(const std::string& node, size_t num_procs) {
  worst_ = std::max(worst_, 1);
  if (!reason_.empty())
    return;
  reason_ = "node " + escape_control_characters(node) + " was lost";
  if (num_procs == 0)
    reason_ += ", which took the output";
  else
    reason_ += " with " + std::to_string(num_procs)
               + (num_procs == 1 ? " process" : " processes");
}

job_ended job_outcome::report() const {
  auto result = job_ended{};
  result.nspace = nspace_;
  result.exit_status = decided_.value_or(worst_);
  result.reason = reason_;
  result.state = reason_.empty() && result.exit_status == 0
                   ? job_state::terminated
                   : job_state::terminated_with_error;
  return result;
}

int32_t exit_status_of_refusal(status why) {
  switch (why) {
    case status::job_exe_not_found:
      return 127;
    case status::job_app_not_executable:
      return 126;
    case status::sys_limits_children:
    case status::sys_limits_files:
    case status::sys_limits_pipes:
      return 125;
    default:
      return 1;
  }
}

} // namespace troupe
