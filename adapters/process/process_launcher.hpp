#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "base/journal.hpp"
#include "config/defaults.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <sys/ioctl.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

class event_loop;
class process_table;

struct process_launcher_settings {
  /// Bytes of one stream that its sink has not answered yet; at the bound the
  /// pipe is not read, so that the process waits. Source: limit L14.
  size_t stream_window = defaults::io_window;

  /// The same for all streams together, but for the least that each may have:
  /// see `window_share`. Source: limit L14.
  size_t total_window = defaults::io_window_total;

  /// Input of one process that waits to be written: whoever sends more before
  /// an answer is refused with `resource_busy`.
  size_t stdin_window = size_t{1} << 20;

  /// How long a stream of an ended process has to be silent before it counts as
  /// ended while somebody else still holds it open.
  std::chrono::milliseconds quiet_grace{250};

  /// How long `sweep_job` may take until it is refused with `timeout`.
  std::chrono::milliseconds sweep_limit{5000};

  /// Whether processes are paused by the freezer of cgroups where we may use
  /// it; otherwise, and elsewhere, they and whatever they started are stopped
  /// by SIGSTOP.
  bool with_freezer = true;

  /// Takes our end of the sockets of processes that are to find a PMI-1 server;
  /// empty: they find nobody.
  std::function<void(const proc_id&, unique_fd)> serve_pmi1;

  /// `NAME=value` in the environment of each process, by which the guard of
  /// orphans knows them; empty: none.
  std::string mark;

  /// The size of the window that the terminals of processes follow when they
  /// get SIGWINCH; empty: there is none.
  std::function<std::optional<winsize>()> window;

  /// What went wrong without anybody having asked.
  journal log;
};

/// The state of a PROCESS LAUNCHER actor.
struct process_launcher_state {
  static inline const char* name = "process-launcher";

  process_launcher_state();

  ~process_launcher_state();

  std::unique_ptr<process_table> table;
};

/// Starts, signals and reaps the processes of a node, and carries their
/// standard streams. Every process leads a process group of its own.
///
/// Makes its process adopt orphaned descendants (PR_SET_CHILD_SUBREAPER),
/// ignore SIGPIPE, and reap on SIGCHLD; one launcher per process. An owner that
/// ends takes its processes with it; so does the launcher.
///
/// - `process_ended` comes when the process ends, whatever it left behind.
/// - Each stream ends with one empty `process_output`, after the last byte:
/// when
///   the pipe is at its end or, because a descendant of the ended process still
///   holds it open, when nothing has come for `quiet_grace`.
/// - `process_drained` comes after both, once the sink has answered everything.
/// - Until `sweep_job`, signals go to what is left of the process group too.
/// - Who is paused stands still with all descendants, also those in other
///   process groups; kills take these along as well.
process_launcher_actor::behavior_type process_launcher(
  process_launcher_actor::stateful_pointer<process_launcher_state> self,
  event_loop* loop, process_launcher_settings settings);

} // namespace troupe
