#pragma once

#include "messages/actors.hpp"
#include "tools/run_options.hpp"

namespace troupe {

class job_progress;

/// What the observer of a run needs besides the options.
struct run_setup {
  run_options options;

  /// Whose job it is.
  credentials creds;

  mesh_host_actor host;
  output_sink_actor sink;
  std::shared_ptr<fd_writer> out;
  std::shared_ptr<fd_writer> err;
  const local_statistics* statistics = nullptr;

  /// Hears how far the jobs are; may be none.
  std::shared_ptr<job_progress> progress;

  /// The jobs that run: ours, and those that it starts.
  std::shared_ptr<std::set<std::string>> running =
    std::make_shared<std::set<std::string>>();

  /// Called when the job runs, with its name.
  std::function<void(const std::string& nspace)> on_started;

  /// Called once when everything is over.
  std::function<void(int exit_status)> on_done;
};

/// Starts the job of a `troupe run`, shows what was asked for, and ends when
/// the job and all that it spawned are over.
job_observer_actor spawn_run_observer(caf::actor_system& sys, run_setup setup);

} // namespace troupe
