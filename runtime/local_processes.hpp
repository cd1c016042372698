#pragma once

#include "messages/actors.hpp"
#include "messages/process.hpp"
#include "runtime/placed_job.hpp"

#include <caf/error.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace troupe {

class runtime;

/// The processes of a job on the node of a runtime: started with all that they
/// need to find it, their standard streams forwarded, and their ends told, to it
/// as well.
///
///     auto procs = troupe::local_processes{*rt};
///     if (!procs.start(*troupe::share_of(job, 0, rt->id()), screen))
///       while (!procs.empty())
///         if (auto end = procs.next_end(1s))
///           std::cout << to_string(end->proc) << " has ended" << std::endl;
///     procs.finish();
///
/// For one thread at a time, and not for that of the runtime: most functions
/// wait. Nobody else may reap the processes (`wait`, `SIGCHLD` ignored).
/// Source: PMIx Standard v5, "Server-Specific Interfaces".
class local_processes {
public:
  struct options {
    /// Whether each process leads a process group: signals then reach what it
    /// has started, too. If not, all are in the group of this process, and who
    /// signals that ends the daemon with them.
    bool lead_groups = true;
  };

  /// @param rt Outlives this.
  explicit local_processes(runtime& rt);

  local_processes(runtime& rt, options x);

  /// Kills what still runs, waits for it for half a minute at most, then as
  /// `finish`.
  ~local_processes();

  local_processes(const local_processes&) = delete;
  local_processes& operator=(const local_processes&) = delete;

  /// Registers the job, and starts its processes. Once; again if
  /// registering was refused.
  /// @param screen Gets what they write, on standard output and standard error;
  ///               none: nobody does who does not ask for it.
  /// @returns why a process cannot be started, in a sentence with the remedy
  ///          (`start_process` lists the reasons); those that have been started
  ///          are killed, and end as others.
  caf::error start(placed_share share, const output_sink_actor& screen = {});

  /// Signals all that run.
  void signal(int number);

  /// Whether none runs, whose end has not been told.
  bool empty() const noexcept;

  /// Waits for the end of one of them.
  /// @param patience How long, at most; 0: not at all.
  /// @returns nothing if none has ended by then, or none runs, or a signal has
  ///          interrupted the wait. `exit_code` is -1 if somebody else has
  ///          reaped it.
  std::optional<process_ended> next_end(std::chrono::milliseconds patience);

  /// For an event loop of the daemon's own: readable while there is an end to be
  /// had from `next_end`.
  int descriptor() const noexcept;

  /// Deregisters the job, when what its processes have written has been taken,
  /// or after two seconds. Whoever still runs loses its server.
  void finish();

private:
  class implementation;

  std::unique_ptr<implementation> implementation_;
};

} // namespace troupe
