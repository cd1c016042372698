#include "tools/signal_forwarder.hpp"

#include "adapters/loop/event_loop.hpp"
#include "messages/attributes.hpp"

#include <unistd.h>

#include <csignal>
#include <utility>

namespace troupe {

namespace {

constexpr int user_signals[] = {SIGUSR1, SIGUSR2, SIGALRM};

constexpr auto pause_time = std::chrono::seconds{2};

} // namespace

void outlive_user_signals() {
  for (const auto number : user_signals)
    std::signal(number, SIG_IGN);
}

signal_forwarder::signal_forwarder(event_loop& loop, settings x)
  : loop_(loop), settings_(std::move(x)), patience_(loop, [this] { stop(); }) {
  for (const auto number : settings_.signals)
    listen(number);
}

signal_forwarder::~signal_forwarder() {
  for (const auto number : settings_.signals)
    loop_.forget_signal(number);
}

void signal_forwarder::listen(int number) {
  loop_.on_signal(number, [this, number] { on_signal(number); });
}

void signal_forwarder::on_signal(int number) {
  if (number == SIGTSTP) {
    pause();
    return;
  }
  if (number == SIGCONT) {
    is_pausing_ = false;
    is_paused_ = false;
    patience_.cancel();
    if (settings_.on_continue)
      settings_.on_continue();
  }
  ask(attr::job_ctrl_signal, value::integer(number), [] {});
}

/// To all jobs in one request each, since a request for who is gone is refused.
void signal_forwarder::ask(std::string_view directive, value x, callback done) {
  const auto jobs = settings_.jobs();
  const auto left = std::make_shared<size_t>(jobs.size());
  for (const auto& nspace : jobs) {
    auto request = job_control_request{};
    request.targets = {{nspace, rank_wildcard}};
    request.directives = {{std::string{directive}, 0, x}};
    settings_.ask(std::move(request), [left, done] {
      if (--*left == 0)
        done();
    });
  }
  if (jobs.empty())
    done();
}

void signal_forwarder::pause() {
  if (is_pausing_)
    return;
  if (is_paused_ && settings_.stays) {
    on_signal(SIGCONT);
    return;
  }
  is_pausing_ = true;
  patience_.start(pause_time);
  ask(attr::job_ctrl_pause, value::boolean(true), [this] {
    if (is_pausing_)
      stop();
  });
}

/// Stops this process as if nobody had caught the signal; in an orphaned
/// process group that does nothing, and SIGCONT is awaited all the same.
/// Source: POSIX, "General Terminal Interface", Orphaned Process Group.
void signal_forwarder::stop() {
  is_pausing_ = false;
  is_paused_ = true;
  patience_.cancel();
  if (settings_.stays) {
    settings_.stays("the job is stopped; kill -CONT " + std::to_string(getpid())
                    + ", or Ctrl-Z once more, lets it go on");
    return;
  }
  if (settings_.on_stop)
    settings_.on_stop();
  loop_.forget_signal(SIGTSTP);
  raise(SIGTSTP);
  listen(SIGTSTP);
}

} // namespace troupe
