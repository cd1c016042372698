#pragma once

#include "adapters/loop/timer.hpp"
#include "messages/control.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace troupe {

class event_loop;

/// Has signals whose default is the end of the process, and which users send
/// to programs, do nothing to this one. To be called first by whatever has
/// processes of jobs.
void outlive_user_signals();

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
