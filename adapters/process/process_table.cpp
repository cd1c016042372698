#include "adapters/process/process_table.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/process/awaited_child.hpp"
#include "adapters/process/descendants.hpp"
#include "adapters/process/inherited_fd.hpp"

#include <caf/all.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe {

namespace {

constexpr auto pidfd_type = static_cast<idtype_t>(3); // P_PIDFD

/// waitid(2) that neither waits nor is interrupted.
/// @returns whether there is such a child; `info.si_pid` is 0 if it has not
///          ended.
bool look_for_child(idtype_t type, id_t id, siginfo_t& info, int options = 0) {
  info.si_pid = 0;
  return waitid(type, id, &info, WEXITED | WNOHANG | options) == 0;
}

bool has_children() {
  siginfo_t info;
  return look_for_child(P_ALL, 0, info, WNOWAIT);
}

/// @returns whether one of our children, dead or alive, is in the group.
bool has_children_in(pid_t group) {
  siginfo_t info;
  return look_for_child(P_PGID, static_cast<id_t>(group), info, WNOWAIT);
}

/// Children reaped in one go; the rest comes soon after.
constexpr auto reaped_at_once = 1024;

constexpr auto reap_pause = std::chrono::milliseconds{5};

constexpr auto max_sweep_pause = std::chrono::milliseconds{50};

/// Nanoseconds since 1970.
int64_t now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch())
    .count();
}

} // namespace

process_table::process_table(self_pointer self, event_loop& loop,
                             process_launcher_settings settings)
  : self_(self), loop_(loop), settings_(std::move(settings)),
    credit_(settings_.total_window),
    freezer_(settings_.with_freezer ? delegated_cgroup() : std::nullopt),
    reap_later_(loop, [this] { reap_children(); }) {
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
  auto outcome = spawn_child(request);
  if (auto* failure = std::get_if<launch_failure>(&outcome))
    return make_error(failure->code, std::move(failure->reason));
  auto& started = std::get<child>(outcome);
  const auto id = ++last_id_;
  auto& x = records_[id];
  x.proc = request.proc;
  x.pid = started.pid;
  x.pidfd = std::move(started.pidfd);
  x.owner = owner;
  x.sink = sink;
  if (started.in)
    x.in = std::make_unique<input_pipe>(loop_, std::move(started.in),
                                        settings_.stdin_window);
  x.out = open_output(id, io_channels::stdout_, std::move(started.out));
  x.err = open_output(id, io_channels::stderr_, std::move(started.err));
  x.exit_watch = std::make_unique<fd_watch>(loop_, x.pidfd.get(),
                                            [this, id] { on_ended(id); });
  x.exit_watch->enable_read();
  running_[x.pid] = id;
  latest_[x.proc] = id;
  watch_owner(owner);
  if (started.pmi1 && settings_.serve_pmi1)
    settings_.serve_pmi1(request.proc, std::move(started.pmi1));
  return process_started{static_cast<uint32_t>(x.pid)};
}

std::unique_ptr<output_pipe>
process_table::open_output(uint64_t id, io_channels channel, unique_fd fd) {
  return std::make_unique<output_pipe>(loop_, std::move(fd), credit_,
                                       settings_.stream_window,
                                       [this, id, channel](std::string bytes) {
                                         deliver(id, channel, std::move(bytes));
                                       });
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

// -- output
// --------------------------------------------------------------------

void process_table::deliver(uint64_t id, io_channels channel,
                            std::string bytes) {
  auto& x = records_.at(id);
  const auto size = bytes.size();
  if (channel == io_channels::stdout_ && size > 0)
    ++x.untaken;
  // Output without a taker counts as taken: the process must not wait for ever.
  const auto taken = [this, id, channel, size] { on_taken(id, channel, size); };
  self_
    ->request(x.sink, caf::infinite,
              process_output{x.proc, channel, std::move(bytes), now()})
    .then([taken](const ack&) { taken(); },
          [taken](const caf::error&) { taken(); });
}

void process_table::on_taken(uint64_t id, io_channels channel, size_t bytes) {
  const auto pos = records_.find(id);
  if (pos == records_.end())
    return;
  auto& x = pos->second;
  if (channel == io_channels::stdout_ && bytes > 0) {
    --x.untaken;
    x.wrote = std::chrono::steady_clock::now();
  }
  auto& stream = channel == io_channels::stdout_ ? *x.out : *x.err;
  stream.taken(bytes);
  settle(pos);
}

// -- input
// ---------------------------------------------------------------------

void process_table::write(write_stdin&& request,
                          caf::typed_response_promise<ack> reply) {
  const auto pos = latest_.find(request.proc);
  if (pos == latest_.end()) {
    reply.deliver(make_error(status::not_found,
                             to_string(request.proc) + " is not running here"));
    return;
  }
  const auto& x = records_.at(pos->second);
  const auto refuse = [proc = x.proc](auto& answer) {
    answer.deliver(
      make_error(status::lost_connection,
                 to_string(proc) + " does not read its standard input"));
  };
  if (x.in == nullptr) {
    refuse(reply);
    return;
  }
  auto answer = reply;
  const auto accepted = x.in->write(std::move(request.bytes),
                                    [answer, refuse](bool written) mutable {
                                      if (written)
                                        answer.deliver(ack{});
                                      else
                                        refuse(answer);
                                    });
  if (!accepted)
    reply.deliver(make_error(status::resource_busy,
                             "too much input waits for " + to_string(x.proc)
                               + "; wait for the answers"));
}

void process_table::close(const close_stdin& request) {
  const auto pos = latest_.find(request.proc);
  if (pos == latest_.end())
    return;
  if (const auto& in = records_.at(pos->second).in)
    in->close();
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
  x.has_group = has_children_in(x.pid);
  if (x.in)
    x.in->fail();
  x.out->expect_end(settings_.quiet_grace);
  x.err->expect_end(settings_.quiet_grace);
  if (x.owner)
    self_->send(x.owner, ended);
  settle(pos);
}

/// Does what is due when something about a process came to its end.
void process_table::settle(records::iterator pos) {
  auto& x = pos->second;
  if (x.is_running())
    return;
  if (!x.is_drained && x.out->is_over() && x.err->is_over()) {
    x.is_drained = true;
    if (x.owner) {
      self_->send(x.owner, process_drained{x.proc});
      forget_owner(x.owner);
      x.owner = nullptr;
    }
  }
  if (!x.is_drained || x.has_group)
    return;
  if (!x.frozen_group.empty())
    freezer_.remove(x.frozen_group);
  const auto last = latest_.find(x.proc);
  if (last != latest_.end() && last->second == pos->first)
    latest_.erase(last);
  records_.erase(pos);
}

/// Reaps whatever has ended: our processes and orphans that came to us.
void process_table::reap_children() {
  auto has_reaped_orphans = false;
  for (int i = 0; i < reaped_at_once; ++i) {
    siginfo_t info;
    if (!look_for_child(P_ALL, 0, info, WNOWAIT) || info.si_pid == 0) {
      if (has_reaped_orphans)
        check_groups();
      return;
    }
    const auto pid = info.si_pid;
    if (const auto ours = running_.find(pid); ours != running_.end())
      on_ended(ours->second);
    else if (awaited_child::exists(pid))
      break; // It hides the others until it has been fetched.
    else
      has_reaped_orphans = look_for_child(P_PID, static_cast<id_t>(pid), info);
  }
  check_groups();
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

// -- sweeping
// ------------------------------------------------------------------

void process_table::sweep(const std::string& nspace,
                          caf::typed_response_promise<ack> reply) {
  auto& x = sweeps_[nspace];
  x.replies.push_back(std::move(reply));
  if (x.replies.size() > 1)
    return; // Under way.
  x.deadline = std::chrono::steady_clock::now() + settings_.sweep_limit;
  continue_sweep(nspace);
}

void process_table::continue_sweep(const std::string& nspace) {
  if (is_swept(nspace)) {
    finish_sweep(nspace, true);
    return;
  }
  auto& x = sweeps_.at(nspace);
  if (std::chrono::steady_clock::now() >= x.deadline) {
    finish_sweep(nspace, false);
    return;
  }
  if (!x.next)
    x.next = std::make_unique<timer>(
      loop_, [this, nspace] { continue_sweep(nspace); });
  x.next->start(x.pause);
  x.pause = std::min(x.pause * 2, max_sweep_pause);
}

/// Kills what is left of a job.
/// @returns whether nothing was.
bool process_table::is_swept(const std::string& nspace) {
  reap_children();
  if (!has_children())
    return true; // Orphans would be among our children.
  check_groups();
  auto is_clean = true;
  for (const auto& [id, x] : records_)
    if (x.proc.nspace == nspace && (x.is_running() || x.has_group)) {
      signal_group(x, SIGKILL);
      is_clean = false;
    }
  return kill_leftovers(nspace) == 0 && is_clean;
}

size_t process_table::kill_leftovers(const std::string& nspace) {
  std::set<pid_t> groups;
  std::set<pid_t> others;
  for (const auto& [id, x] : records_)
    if (x.proc.nspace == nspace) {
      if (x.is_running() || x.has_group)
        groups.insert(x.pid);
    } else if (x.is_running()) {
      others.insert(x.pid);
    }
  return kill_descendants(nspace, groups, others);
}

void process_table::finish_sweep(const std::string& nspace, bool done) {
  auto node = sweeps_.extract(nspace);
  for (auto pos = records_.begin(); pos != records_.end();) {
    auto& x = pos->second;
    const auto here = pos++;
    if (x.proc.nspace != nspace || x.is_running())
      continue;
    x.out->end_when_empty();
    x.err->end_when_empty();
    if (done)
      x.has_group = false;
    settle(here);
  }
  const auto complaint =
    "processes of the job " + nspace + " do not end although they were killed";
  if (!done)
    log(severity::error, complaint);
  for (auto& reply : node.mapped().replies)
    if (done)
      reply.deliver(ack{});
    else
      reply.deliver(make_error(status::timeout, complaint));
}

} // namespace troupe
