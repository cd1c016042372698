#pragma once

#include "adapters/loop/timer.hpp"
#include "messages/control.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

class event_loop;

/// Reads the number of a signal or its name, with or without `SIG`: `USR1`,
/// `RTMIN+2`.
/// @returns `bad_param` in a sentence.
caf::expected<int32_t> read_signal(const std::string& text);

/// What `--forward-signals` is, on any command line.
inline constexpr auto forward_signals_help =
  "Signals to pass on to the processes beside TSTP, USR1, USR2, ABRT, ALRM, "
  "CONT and WINCH: names or numbers with commas, all, or none for not even "
  "these (docs/signals.md)";

/// The signals that a launcher passes on to the processes of its job if nobody
/// says otherwise: those of Open MPI 5, mpirun(1), "--forward-signals", and
/// SIGWINCH.
const std::set<int>& usual_signals();

/// Reads what `--forward-signals` says: a list of names or numbers that are
/// passed on, too; `all`; or `none`.
/// @returns `bad_param` in a sentence for what is no signal, for SIGKILL and
///          SIGSTOP, which nobody can pass on, for SIGINT and SIGTERM, which
///          end the job, and for those that the launcher gets of its own
///          doings.
caf::expected<std::set<int>> read_forwarded_signals(const std::string& text);

/// Has signals whose default is the end of the process, and which users send
/// to programs, do nothing to this one. To be called first by whatever has
/// processes of jobs.
void outlive_user_signals();

/// Calls `f` with the number of a signal by which users, terminals and batch
/// systems end a tool.
void on_interrupt(event_loop& loop, const std::function<void(int)>& f);

/// Interrupts of a launcher by its user: the first ends the job, the second at
/// once, and the third the launcher, which waits for nobody then, since whoever
/// reads its output may have stopped. For the thread of the loop only.
class user_interrupts {
public:
  /// Gets the number of the signal.
  using callback = std::function<void(int)>;

  /// @param end Ends the job; at once if `is_repeated`.
  /// @param leave Ends the launcher.
  user_interrupts(callback end, callback leave)
    : end_(std::move(end)), leave_(std::move(leave)) {
    // nop
  }

  user_interrupts(const user_interrupts&) = delete;

  user_interrupts& operator=(const user_interrupts&) = delete;

  /// Takes over the signals of this loop, which runs no longer than this lives.
  void listen(event_loop& loop);

  /// Whether there has been a second one.
  bool is_repeated() const {
    return count_ > 1;
  }

private:
  callback end_;
  callback leave_;
  int count_ = 0;
};

/// Passes signals of the launcher on to the processes of its jobs, by requests
/// of job control. SIGTSTP pauses them, and then stops the launcher, as the
/// shell expects; SIGCONT lets all go on. Other signals that users send do
/// nothing. For the thread of the loop only.
class signal_forwarder {
public:
  using callback = std::function<void()>;

  struct settings {
    std::set<int> signals;

    /// The jobs that run.
    std::function<std::set<std::string>()> jobs;

    /// Has a request carried out; calls back once, whatever came of it.
    std::function<void(job_control_request, callback)> ask;

    /// Before the launcher stops, and when it goes on.
    callback on_stop = {};
    callback on_continue = {};

    /// Takes a line for the user if the launcher must not stop, because other
    /// nodes would take it for dead; else it stops.
    std::function<void(const std::string& line)> stays = {};
  };

  /// Takes over the signals, until it is destroyed.
  signal_forwarder(event_loop& loop, settings x);

  ~signal_forwarder();

  signal_forwarder(const signal_forwarder&) = delete;

  signal_forwarder& operator=(const signal_forwarder&) = delete;

private:
  void listen(int number);
  void on_signal(int number);
  void ask(std::string_view directive, value x, callback done);
  void pause();
  void stop();

  event_loop& loop_;
  settings settings_;

  /// How long jobs may take to stand still before the launcher stops.
  timer patience_;
  bool is_pausing_ = false;
  bool is_paused_ = false;
};

} // namespace troupe
