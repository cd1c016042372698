#include "runtime/local_processes.hpp"

#include "actors/io/io_patterns.hpp"
#include "actors/jobs/job_plan.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/child.hpp"
#include "messages/status.hpp"
#include "runtime/runtime.hpp"

#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace troupe {

namespace {

/// How long a process that was killed may take to be gone.
constexpr auto longest_death = std::chrono::seconds{30};

} // namespace

class local_processes::implementation {
public:
  implementation(runtime& server, options x)
    : rt(server), how(x), ends(::epoll_create1(EPOLL_CLOEXEC)) {
    // nop
  }

  struct running {
    proc_id proc;

    /// Readable once it has ended.
    unique_fd pidfd;
  };

  caf::error start_one(start_process what) {
    auto variables = rt.setup_fork(what.proc);
    if (!variables)
      return std::move(variables.error());
    set_variables(what.env, std::move(*variables));
    auto outcome = spawn_child(
      what, {}, how.lead_groups ? child_group::own : child_group::parents);
    if (auto* why = std::get_if<launch_failure>(&outcome))
      return make_error(why->code, std::move(why->reason));
    auto& x = std::get<child>(outcome);
    auto event = epoll_event{};
    event.events = EPOLLIN;
    event.data.u64 = static_cast<uint64_t>(x.pid);
    if (::epoll_ctl(ends.get(), EPOLL_CTL_ADD, x.pidfd.get(), &event) != 0) {
      const auto reason = std::string{std::strerror(errno)};
      ::kill(x.pid, SIGKILL);
      ::waitpid(x.pid, nullptr, 0);
      return make_error(status::sys_limits_files,
                        "cannot watch " + what.program + ": " + reason
                          + "; raise the limit of open files (ulimit -n)");
    }
    procs.emplace(x.pid, running{what.proc, std::move(x.pidfd)});
    return rt.forward({what.proc, x.in.release(), x.out.release(),
                       x.err.release(), x.diag.release(),
                       static_cast<uint32_t>(x.pid)});
  }

  process_ended reap(pid_t pid) {
    auto ending = 0;
    auto result = process_ended{};
    auto reaped = pid_t{-1};
    do
      reaped = ::waitpid(pid, &ending, 0);
    while (reaped < 0 && errno == EINTR);
    const auto i = procs.find(pid);
    result.proc = std::move(i->second.proc);
    // A process that is being started may have copies of the descriptor.
    ::epoll_ctl(ends.get(), EPOLL_CTL_DEL, i->second.pidfd.get(), nullptr);
    procs.erase(i);
    if (reaped != pid) {
      result.exit_code = -1;
    } else if (WIFSIGNALED(ending)) {
      result.signal = WTERMSIG(ending);
      result.core_dumped = WCOREDUMP(ending);
    } else {
      result.exit_code = WEXITSTATUS(ending);
    }
    rt.proc_ended(result.proc, result.signal != 0 ? proc_state::aborted_by_sig
                               : result.exit_code != 0
                                 ? proc_state::term_non_zero
                                 : proc_state::terminated);
    return result;
  }

  void signal(int number) const {
    for (const auto& [pid, x] : procs)
      ::kill(how.lead_groups ? -pid : pid, number);
  }

  runtime& rt;
  options how;

  /// Of the descriptors of those that run.
  unique_fd ends;
  std::map<pid_t, running> procs;

  /// Registered by us; empty: none is.
  std::string nspace;
};

local_processes::local_processes(runtime& rt) : local_processes(rt, options{}) {
  // nop
}

local_processes::local_processes(runtime& rt, options x)
  : implementation_(std::make_unique<implementation>(rt, x)) {
  // nop
}

local_processes::~local_processes() {
  auto& x = *implementation_;
  x.signal(SIGKILL);
  // One that cannot end now, as in a file system that hangs, is left.
  const auto until = std::chrono::steady_clock::now() + longest_death;
  while (!x.procs.empty() && std::chrono::steady_clock::now() < until)
    next_end(std::chrono::seconds{1});
  finish();
}

caf::error local_processes::start(placed_share share,
                                  const output_sink_actor& screen) {
  auto& x = *implementation_;
  if (!x.nspace.empty())
    return make_error(status::exists, "these are the processes of " + x.nspace
                                        + ": make others for another job");
  if (!x.ends)
    return make_error(status::sys_limits_files,
                      "cannot watch processes; raise the limit of open files"
                      " (ulimit -n)");
  const auto name = share.registration.nspace;
  if (auto why = x.rt.register_nspace(std::move(share.registration)))
    return why;
  x.nspace = name;
  if (screen && !share.processes.empty()) {
    auto written = io_subscription{};
    for (const auto& y : share.processes)
      written.sources.push_back(y.proc);
    written.channels = output_channels;
    if (auto known = x.rt.subscribe(std::move(written), screen); !known)
      return std::move(known.error());
  }
  for (auto& y : share.processes)
    if (auto why = x.start_one(std::move(y))) {
      x.signal(SIGKILL); // They would wait for it.
      return why;
    }
  return {};
}

void local_processes::signal(int number) {
  implementation_->signal(number);
}

bool local_processes::empty() const noexcept {
  return implementation_->procs.empty();
}

std::optional<process_ended>
local_processes::next_end(std::chrono::milliseconds patience) {
  auto& x = *implementation_;
  if (x.procs.empty())
    return std::nullopt;
  const auto wait =
    std::clamp<std::chrono::milliseconds::rep>(patience.count(), 0, INT_MAX);
  auto event = epoll_event{};
  if (::epoll_wait(x.ends.get(), &event, 1, static_cast<int>(wait)) != 1)
    return std::nullopt;
  return x.reap(static_cast<pid_t>(event.data.u64));
}

int local_processes::descriptor() const noexcept {
  return implementation_->ends.get();
}

void local_processes::finish() {
  auto& x = *implementation_;
  if (!x.nspace.empty())
    x.rt.deregister_nspace(std::exchange(x.nspace, {}));
}

} // namespace troupe
