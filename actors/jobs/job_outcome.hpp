#pragma once

#include "messages/job.hpp"
#include "messages/status.hpp"

#include <optional>

namespace troupe {

/// What a process is to people, and where they find what it left.
struct proc_place {
  /// As the user wrote it.
  std::string program;

  uint32_t pid = 0;
  std::string node;
};

/// A process in words, as much as is known: `rank 2 (./app, pid 1234 on
/// node1)`. What others have written in it cannot reach a terminal.
std::string describe_process(uint32_t rank, const proc_place& where);

/// How one process of a job ended.
struct proc_outcome {
  uint32_t rank = 0;
  proc_state state = proc_state::undef;
  int32_t exit_code = 0;
  int32_t signal = 0;

  /// Whether the job was being ended already: then the process is no cause.
  bool was_told = false;

  proc_place where{};
};

/// The state in which a process ends.
/// @param connected Whether it had connected to its server.
/// @param finalized Whether it had finalized since.
/// Source: PMIx Standard v5, `pmix_proc_state_t`; a process that connects and
/// exits without finalizing has failed.
proc_state final_state(const process_ended& what, bool connected,
                       bool finalized);

/// Whether a process in this state has failed.
/// @param abort_non_zero Whether a status other than 0 counts as failure.
bool is_failure(proc_state state, bool abort_non_zero);

/// How a process ended, in words: `rank 1 was killed by signal 9 (SIGKILL,
/// Killed)`.
std::string describe_end(const proc_changed& what);

/// What the job's end comes to for whoever started it.
/// Names and numbers as shells and launchers have them: 128 + signal, 124 for a
/// time-out, else the highest status of a process that ended by itself.
class job_outcome {
public:
  /// @param nspace For the report.
  explicit job_outcome(std::string nspace) : nspace_(std::move(nspace)) {
    // nop
  }

  /// Notes the end of a process.
  void add(const proc_outcome& x);

  /// The job is ended on purpose: the first reason counts.
  void end(std::string reason, std::optional<int32_t> exit_status);

  /// The status that a process gave to `PMIx_Abort`.
  void abort(uint32_t rank, int32_t exit_status, const std::string& message,
             const proc_place& where = {});

  /// A node is lost, and so many processes with it; 0: it took the output.
  void lose(const std::string& node, size_t num_procs);

  job_ended report() const;

private:
  std::string nspace_;
  int32_t worst_ = 0;
  std::optional<int32_t> decided_;
  std::string reason_;
};

/// What a launcher ends with if a job cannot be started: 127 and 126 as shells
/// do, 125 at a limit of a node, else 1.
int32_t exit_status_of_refusal(status why);

/// The name of a signal with its number: `signal 11 (Segmentation fault)`.
std::string describe_signal(int32_t signal);

} // namespace troupe
