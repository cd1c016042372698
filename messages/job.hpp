#pragma once

#include "messages/connection.hpp"
#include "messages/process.hpp"
#include "messages/spawn.hpp"

namespace troupe {

/// Where a process of a job was put.
struct placed_proc {
  uint32_t rank = 0;

  /// Which program of the job, from 0.
  uint32_t app = 0;

  /// Processors it is bound to; empty: unbound.
  std::vector<uint32_t> cpus;
};

TROUPE_MESSAGE(placed_proc, x.rank, x.app, x.cpus)

/// A job has been mapped and is being started.
struct job_mapped {
  std::string nspace;

  /// The nodes, with commas between.
  std::string hostname;

  /// By rank.
  std::vector<placed_proc> procs;

  /// The node of each process.
  std::vector<std::string> hosts;

  /// The policies in force, such as `core`, `slot`.
  std::string map_by;
  std::string bind_to;

  /// Whether whoever asked for the job wants people to see where its processes
  /// go, and where they are bound. PMIX_DISPLAY_MAP, PMIX_REPORT_BINDINGS.
  bool shows_map = false;
  bool shows_bindings = false;
};

TROUPE_MESSAGE(job_mapped, x.nspace, x.hostname, x.procs, x.hosts, x.map_by,
               x.bind_to, x.shows_map, x.shows_bindings)

/// A process changed its state.
struct proc_changed {
  proc_id proc;
  proc_state state = proc_state::undef;
  uint32_t pid = 0;
  int32_t exit_code = 0;
  int32_t signal = 0;
};

TROUPE_MESSAGE(proc_changed, x.proc, x.state, x.pid, x.exit_code, x.signal)

/// A job is over and all its output has been taken.
struct job_ended {
  std::string nspace;
  job_state state = job_state::terminated;

  /// What a shell would report: the exit status of the worst process that ended
  /// by itself, 128 + signal, 127 not found, 126 not executable, 124 time-out.
  int32_t exit_status = 0;

  /// Why, in one line that names the rank that failed first; empty if nothing
  /// failed.
  std::string reason;
};

TROUPE_MESSAGE(job_ended, x.nspace, x.state, x.exit_status, x.reason)

/// Ends a job: its processes get the signal, and what is left after the grace
/// is killed.
struct end_job {
  std::string nspace;

  /// For the report, such as `interrupted`.
  std::string reason;

  /// What the job's exit status becomes; absent: as its processes end.
  std::optional<int32_t> exit_status;

  /// The signal to begin with.
  int32_t signal = 15;

  /// How long the processes have before they are killed; absent:
  /// `defaults::kill_grace`.
  std::optional<std::chrono::milliseconds> grace = std::nullopt;
};

TROUPE_MESSAGE(end_job, x.nspace, x.reason, x.exit_status, x.signal, x.grace)

/// Asks for the jobs of the host. Empty namespace: all.
struct list_jobs {
  std::string nspace;
};

TROUPE_MESSAGE(list_jobs, x.nspace)

/// What is known of a job.
struct job_description {
  std::string nspace;
  job_state state = job_state::undef;
  std::string cmd;
  std::vector<proc_info> procs;
};

TROUPE_MESSAGE(job_description, x.nspace, x.state, x.cmd, x.procs)

struct job_list {
  std::vector<job_description> jobs;
};

TROUPE_MESSAGE(job_list, x.jobs)

} // namespace troupe
