#include "adapters/process/process_table.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/process/awaited_child.hpp"
#include "adapters/process/descendants.hpp"
#include "adapters/process/inherited_fd.hpp"
#include "adapters/process/own_children.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe {

namespace {

constexpr auto pidfd_type = static_cast<idtype_t>(3); // P_PIDFD

/// Children reaped in one go; the rest comes soon after.
constexpr auto reaped_at_once = 1024;

/// What our own memory may be of the limit of all, in thousandths: what may be
/// posted, and what is on its way.
constexpr auto preferred_to_kill = 300;

constexpr auto reap_pause = std::chrono::milliseconds{5};

} // namespace

process_table::process_table(self_pointer self, event_loop& loop,
                             process_launcher_settings settings)
  : self_(self), loop_(loop),
    settings_(std::move(settings)), credit_{std::make_shared<shared_window>(
                                      settings_.total_window)},
    freezer_(settings_.with_freezer ? delegated_cgroup() : std::nullopt),
    freed_(loop), reap_later_(loop, [this] { reap_children(); }) {
  occupy_standard_descriptors();
  ignore_broken_pipes();
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    log(severity::warning, "orphaned processes of jobs cannot be adopted; "
                           "some may outlive their job");
  if (!loop_.on_signal(SIGCHLD, [this] { reap_children(); }))
    log(severity::warning, "cannot watch SIGCHLD; orphaned processes of jobs "
                           "stay zombies until their job is over");
}

process_table::~process_table() {
  loop_.forget_signal(SIGCHLD);
  std::set<std::string> nspaces;
  for (auto& [id, x] : records_) {
    signal_group(x, SIGKILL);
    nspaces.insert(x.proc.nspace);
  }
  if (has_children())
    for (const auto& nspace : nspaces)
      kill_leftovers(nspace);
}

void process_table::log(severity how, const std::string& what) const {
  if (settings_.log)
    settings_.log(how, what);
}

// -- start
// ---------------------------------------------------------------------

caf::result<process_started>
process_table::start(const start_process& request,
                     const process_owner_actor& owner,
                     const output_receiver_actor& sink) {
  if (running(request.proc) != nullptr)
    return make_error(status::err_exists,
                      to_string(request.proc) + " is running already");
  auto outcome = spawn_child(request, settings_.mark);
  if (auto* failure = std::get_if<launch_failure>(&outcome))
    return make_error(failure->code, std::move(failure->reason));
  freed_.keep();
  auto& started = std::get<child>(outcome);
  // If there is a limit for us and the job together, one of its processes goes
  // before us: we are left to say which.
  if (is_limited_)
    prefer_to_kill(static_cast<uint32_t>(started.pid), preferred_to_kill);
  const auto id = ++last_id_;
  auto& x = records_[id];
  x.proc = request.proc;
  x.pid = started.pid;
  x.pidfd = std::move(started.pidfd);
  if (request.with_pty && settings_.window)
    x.terminal.reset(fcntl(started.out.get(), F_DUPFD_CLOEXEC, 0));
  x.owner = owner;
  x.sink = sink;
  open_input(x, std::move(started.in), request.with_pty);
  open_output(id, io_channels::stdout_, std::move(started.out));
  open_output(id, io_channels::stderr_, std::move(started.err));
  open_output(id, io_channels::stddiag, std::move(started.diag));
  x.exit_watch = std::make_unique<fd_watch>(loop_, x.pidfd.get(),
                                            [this, id] { look_for_end(id); });
  x.exit_watch->enable_read();
  running_[x.pid] = id;
  latest_[x.proc] = id;
  watch_owner(owner);
  if (started.pmi1 && settings_.serve_pmi1)
    settings_.serve_pmi1(request.proc, std::move(started.pmi1));
  return process_started{static_cast<uint32_t>(x.pid)};
}

void process_table::watch_owner(const process_owner_actor& owner) {
  if (owners_[owner.address()]++ == 0)
    self_->monitor(owner);
}

void process_table::forget_owner(const process_owner_actor& owner) {
  const auto pos = owners_.find(owner.address());
  if (pos == owners_.end() || --pos->second > 0)
    return;
  self_->demonitor(owner.address());
  owners_.erase(pos);
}

void process_table::abandon(const caf::actor_addr& owner) {
  if (owners_.erase(owner) == 0)
    return;
  std::set<std::string> nspaces;
  for (auto pos = records_.begin(); pos != records_.end();) {
    auto& x = pos->second;
    const auto here = pos++;
    if (!x.owner || x.owner.address() != owner)
      continue;
    x.owner = nullptr;
    nspaces.insert(x.proc.nspace);
    settle(here);
  }
  for (const auto& nspace : nspaces)
    if (sweeps_.count(nspace) == 0) {
      sweeps_[nspace].deadline =
        std::chrono::steady_clock::now() + settings_.sweep_limit;
      continue_sweep(nspace);
    }
}

// -- the end of processes
// ------------------------------------------------------

process_table::record* process_table::running(const proc_id& proc) {
  const auto pos = latest_.find(proc);
  if (pos == latest_.end())
    return nullptr;
  auto& x = records_.at(pos->second);
  return x.is_running() ? &x : nullptr;
}

void process_table::on_ended(uint64_t id) {
  const auto pos = records_.find(id);
  if (pos == records_.end() || !pos->second.is_running())
    return;
  auto& x = pos->second;
  siginfo_t info;
  const auto is_ours =
    look_for_child(pidfd_type, static_cast<id_t>(x.pidfd.get()), info);
  if (is_ours && info.si_pid == 0)
    return; // Not yet.
  auto ended = process_ended{x.proc, 0, 0, false};
  if (!is_ours) {
    log(severity::error, "somebody else reaped " + to_string(x.proc)
                           + "; its exit status is unknown");
    ended.exit_code = 1;
  } else if (info.si_code == CLD_EXITED) {
    ended.exit_code = info.si_status;
  } else {
    ended.signal = info.si_status;
    ended.core_dumped = info.si_code == CLD_DUMPED;
  }
  running_.erase(x.pid);
  x.exit_watch.reset();
  x.pidfd.reset();
  x.terminal.reset();
  x.has_group = has_children_in(x.pid);
  if (x.in)
    x.in->fail();
  for (auto& [channel, stream] : x.out)
    stream->expect_end(settings_.quiet_grace, [this, id] {
      if (const auto here = records_.find(id); here != records_.end())
        settle(here);
    });
  ended_.emplace_back(id, std::move(ended));
}

/// Tells of all that have been found to have ended in one look: which of them
/// was first nobody knows, and who was killed is more likely the cause of an
/// exit than the other way around.
void process_table::tell_ended() {
  auto ended = std::exchange(ended_, {});
  std::stable_partition(ended.begin(), ended.end(),
                        [](const auto& x) { return x.second.signal != 0; });
  for (auto& [id, what] : ended) {
    const auto pos = records_.find(id);
    if (pos == records_.end())
      continue;
    if (what.signal == SIGKILL)
      tell_memory(what, pos->second.pid);
    if (pos->second.owner)
      self_->send(pos->second.owner, std::move(what));
    settle(pos);
  }
}

/// Says so if memory may be why a process was killed: what started it may have
/// been killed for that, and it with it.
void process_table::tell_memory(const process_ended& what, pid_t pid) {
  const auto kills = memory_.kills();
  if (kills <= memory_kills_)
    return;
  log(severity::warning,
      to_string(what.proc) + " (pid " + std::to_string(pid)
        + ") was killed by signal 9 while there was no memory left: the kernel"
          " has killed "
        + std::to_string(kills - memory_kills_) + " processes of "
        + memory_.name()
        + " for that; take fewer or smaller processes, or a larger limit");
  memory_kills_ = kills;
}

/// Does what is due when something about a process came to its end.
void process_table::settle(records::iterator pos) {
  auto& x = pos->second;
  if (x.is_running())
    return;
  if (!x.is_drained && x.is_quiet()) {
    x.is_drained = true;
    if (x.owner) {
      self_->send(x.owner, process_drained{x.proc});
      forget_owner(x.owner);
      x.owner = nullptr;
    }
  }
  if (!x.is_silent())
    return;
  const auto nspace = x.proc.nspace;
  if (!x.has_group) {
    if (!x.frozen_group.empty())
      freezer_.remove(x.frozen_group);
    const auto last = latest_.find(x.proc);
    if (last != latest_.end() && last->second == pos->first)
      latest_.erase(last);
    records_.erase(pos);
    if (records_.empty())
      freed_.give_back_later();
  }
  answer_sweep(nspace);
}

void process_table::look_for_end(uint64_t id) {
  on_ended(id);
  // Others may have ended before it.
  reap_children();
}

/// Reaps whatever has ended: our processes and orphans that came to us.
void process_table::reap_children() {
  auto has_reaped_orphans = false;
  auto is_complete = false;
  for (int i = 0; i < reaped_at_once && !is_complete; ++i) {
    siginfo_t info;
    is_complete = !look_for_child(P_ALL, 0, info, WNOWAIT) || info.si_pid == 0;
    if (is_complete)
      break;
    const auto pid = info.si_pid;
    if (const auto ours = running_.find(pid); ours != running_.end())
      on_ended(ours->second);
    else if (awaited_child::exists(pid))
      break; // It hides the others until it has been fetched.
    else
      has_reaped_orphans = look_for_child(P_PID, static_cast<id_t>(pid), info);
  }
  tell_ended();
  if (has_reaped_orphans || !is_complete)
    check_groups();
  if (!is_complete)
    reap_later_.start(reap_pause);
}

/// Lets go of process groups that have no member left.
void process_table::check_groups() {
  for (auto pos = records_.begin(); pos != records_.end();) {
    auto& x = pos->second;
    const auto here = pos++;
    if (x.is_running() || !x.has_group || has_children_in(x.pid))
      continue;
    x.has_group = false;
    settle(here);
  }
}

// -- signals
// -------------------------------------------------------------------

void process_table::signal_group(const record& x, int number) {
  if (x.is_running()) {
    kill(-x.pid, number);
    // A process may have left the group that it led.
    if (getpgid(x.pid) != x.pid)
      syscall(SYS_pidfd_send_signal, x.pidfd.get(), number, nullptr, 0);
  } else if (x.has_group && has_children_in(x.pid)) {
    kill(-x.pid, number);
  }
}

void process_table::signal(const signal_process& request) {
  const auto pos = latest_.find(request.proc);
  if (pos == latest_.end())
    return;
  auto& x = records_.at(pos->second);
  signal_group(x, request.signal);
  if (request.signal == SIGCONT && x.is_running())
    resume({&x});
}

caf::result<local_process> process_table::find(const find_process& request) {
  const auto* x = running(request.proc);
  if (x == nullptr)
    return make_error(status::not_found,
                      to_string(request.proc) + " does not run on this node");
  auto result = local_process{static_cast<uint32_t>(x->pid), {}};
  if (x->untaken == 0)
    result.silence = std::chrono::steady_clock::now() - x->wrote;
  return result;
}

} // namespace troupe
