#include "adapters/process/process_table.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/process/descriptors.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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

// -- start -------------------------------------------------------------------

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

// -- the end of processes ----------------------------------------------------

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

// -- signals -----------------------------------------------------------------

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

// -- standard streams --------------------------------------------------------

namespace {

/// What has to be typed after `last`, the last byte typed before, so that
/// whoever reads the terminal finds the end of its input; nothing if its
/// settings know no such character.
std::string end_of_input(int master, char last) {
  termios settings{};
  if (tcgetattr(master, &settings) != 0)
    return {};
  const auto key = settings.c_cc[VEOF];
  if (key == _POSIX_VDISABLE)
    return {};
  // In the middle of a line it only ends the wait for its end.
  const auto ends_line =
    last == '\n' || (last == '\r' && (settings.c_iflag & ICRNL) != 0);
  const auto is_within_line = (settings.c_lflag & ICANON) != 0 && !ends_line;
  return std::string(is_within_line ? 2 : 1, static_cast<char>(key));
}

/// Nanoseconds since 1970.
int64_t now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch())
    .count();
}

} // namespace

bool process_table::record::is_quiet() const {
  return std::all_of(out.begin(), out.end(),
                     [](const auto& x) { return x.second->is_quiet(); });
}

bool process_table::record::is_silent() const {
  return std::all_of(out.begin(), out.end(),
                     [](const auto& x) { return x.second->is_over(); });
}

void process_table::open_output(uint64_t id, io_channels channel,
                                unique_fd fd) {
  if (!fd)
    return;
  records_.at(id).out[channel] = std::make_unique<output_pipe>(
    loop_, std::move(fd), credit_, settings_.stream_window,
    [this, id, channel](std::string bytes) {
      deliver(id, channel, std::move(bytes));
    });
}

void process_table::open_input(record& x, unique_fd fd, bool is_terminal) {
  if (!fd)
    return;
  auto make_end = input_pipe::end_maker{};
  if (is_terminal)
    make_end = [master = fd.get()](char last) {
      return end_of_input(master, last);
    };
  x.in = std::make_unique<input_pipe>(
    loop_, std::move(fd), settings_.stdin_window, std::move(make_end));
}

// -- output ------------------------------------------------------------------

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
              process_output{x.proc, channel, std::move(bytes), now(),
                             static_cast<uint32_t>(x.pid)})
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
  x.out.at(channel)->taken(bytes);
  settle(pos);
}

// -- input -------------------------------------------------------------------

void process_table::write(write_stdin&& request,
                          caf::typed_response_promise<ack> reply) {
  const auto pos = latest_.find(request.proc);
  if (pos == latest_.end()) {
    reply.deliver(make_error(status::not_found,
                             to_string(request.proc) + " is not running here"));
    return;
  }
  write_input(records_.at(pos->second).in.get(), std::move(request),
              std::move(reply));
}

void process_table::close(const close_stdin& request) {
  const auto pos = latest_.find(request.proc);
  if (pos == latest_.end())
    return;
  if (const auto& in = records_.at(pos->second).in)
    in->close();
}

// -- control on behalf of others ---------------------------------------------

namespace {

/// A process may start others while we look for those to stop: we look again
/// until there is none, or so often.
constexpr auto looks = 8;

bool stands_still(const process_entry& x) {
  return x.state == 'T' || x.state == 't';
}

} // namespace

procs_controlled process_table::control(const control_procs& what) {
  // Whoever asks who runs has heard before of those that do not.
  if (what.action == control_action::signal && what.signal == 0)
    reap_children();
  auto result = procs_controlled{};
  auto found = std::vector<record*>{};
  for (const auto rank : what.ranks)
    if (auto* x = running({what.nspace, rank})) {
      found.push_back(x);
      result.ranks.push_back(rank);
    }
  switch (what.action) {
    case control_action::signal:
      for (auto* x : found)
        signal_on_request(*x, what.signal);
      break;
    case control_action::pause:
      pause(found);
      break;
    case control_action::resume:
      resume(found);
      break;
    case control_action::terminate:
      for (auto* x : found)
        signal_group(*x, SIGTERM);
      // A stopped process takes no signal until it goes on.
      resume(found);
      break;
    case control_action::kill:
    case control_action::restart:
      kill_families(found);
      break;
  }
  return result;
}

/// Whoever stops processes by a signal wants them to be taken for paused.
void process_table::signal_on_request(record& x, int number) {
  if (number == 0)
    return;
  if (number == SIGWINCH && x.terminal)
    if (const auto size = settings_.window()) {
      // The terminal tells those in its foreground.
      ioctl(x.terminal.get(), TIOCSWINSZ, &*size);
      return;
    }
  signal_group(x, number);
  if (number == SIGSTOP)
    x.is_paused = true;
  else if (number == SIGCONT)
    resume({&x});
}

std::map<pid_t, std::vector<process_entry>>
process_table::families_of(const std::vector<record*>& xs) const {
  auto heads = std::vector<family_head>{};
  for (const auto* x : xs)
    heads.push_back({x->pid, "PMIX_NAMESPACE=" + x->proc.nspace,
                     "PMIX_RANK=" + std::to_string(x->proc.rank)});
  return find_families(heads);
}

void process_table::pause(const std::vector<record*>& xs) {
  auto others = std::vector<record*>{};
  for (auto* x : xs)
    if (!x->is_paused) {
      x->is_paused = true;
      others.push_back(x);
    }
  if (freezer_)
    others = freeze(others);
  if (!others.empty())
    stop(others);
}

/// @returns those that could not be frozen.
std::vector<process_table::record*>
process_table::freeze(const std::vector<record*>& xs) {
  auto failed = std::vector<record*>{};
  auto moved = std::map<record*, std::vector<pid_t>>{};
  for (auto* x : xs) {
    x->frozen_group =
      "troupe." + std::to_string(getpid()) + "." + std::to_string(x->pid);
    if (freezer_.add(x->frozen_group, {x->pid}))
      moved[x] = {x->pid};
    else
      failed.push_back(x);
  }
  for (int i = 0; i < looks && !moved.empty(); ++i) {
    auto is_complete = true;
    const auto families = families_of(xs);
    for (auto& [x, there] : moved) {
      const auto family = families.find(x->pid);
      if (family == families.end())
        continue;
      auto more = std::vector<pid_t>{};
      for (const auto& y : family->second)
        if (std::find(there.begin(), there.end(), y.pid) == there.end())
          more.push_back(y.pid);
      if (more.empty())
        continue;
      is_complete = false;
      freezer_.add(x->frozen_group, more);
      there.insert(there.end(), more.begin(), more.end());
    }
    if (is_complete)
      break;
  }
  for (auto& [x, unused] : moved)
    if (!freezer_.freeze(x->frozen_group))
      failed.push_back(x);
  for (auto* x : failed) {
    freezer_.remove(x->frozen_group);
    x->frozen_group.clear();
  }
  return failed;
}

void process_table::stop(const std::vector<record*>& xs) {
  for (int i = 0; i < looks; ++i) {
    for (const auto* x : xs)
      signal_group(*x, SIGSTOP);
    auto is_complete = true;
    for (const auto& [head, family] : families_of(xs))
      for (const auto& x : family)
        if (x.group != head && !stands_still(x))
          is_complete &= !signal_entry(x, SIGSTOP);
    if (is_complete)
      return;
  }
}

void process_table::resume(const std::vector<record*>& xs) {
  auto stopped = std::vector<record*>{};
  for (auto* x : xs) {
    if (!x->is_paused)
      continue;
    x->is_paused = false;
    if (!x->frozen_group.empty())
      freezer_.thaw(x->frozen_group);
    else
      stopped.push_back(x);
  }
  if (stopped.empty())
    return;
  // Those that others wait for go on first.
  for (const auto& [head, family] : families_of(stopped))
    for (const auto& x : family)
      if (x.group != head && stands_still(x))
        signal_entry(x, SIGCONT);
  for (const auto* x : stopped)
    signal_group(*x, SIGCONT);
}

/// Those that left their process groups go, too.
void process_table::kill_families(const std::vector<record*>& xs) {
  const auto families = families_of(xs);
  for (auto* x : xs) {
    x->is_paused = false;
    signal_group(*x, SIGKILL);
  }
  for (const auto& [head, family] : families)
    for (const auto& x : family)
      signal_entry(x, SIGKILL);
}

// -- what a job has left behind ----------------------------------------------

namespace {

constexpr auto max_sweep_pause = std::chrono::milliseconds{50};

} // namespace

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

/// What is left of the job has been killed, or cannot be: nobody is left whose
/// output is waited for.
void process_table::finish_sweep(const std::string& nspace, bool done) {
  const auto complaint =
    "processes of the job " + nspace + " do not end although they were killed";
  if (!done)
    log(severity::error, complaint);
  auto& sweep = sweeps_.at(nspace);
  sweep.next.reset();
  sweep.outcome = done ? caf::error{} : make_error(status::timeout, complaint);
  auto ended = std::vector<uint64_t>{};
  for (auto& [id, x] : records_)
    if (x.proc.nspace == nspace && !x.is_running()) {
      if (done)
        x.has_group = false;
      ended.push_back(id);
    }
  for (const auto id : ended) {
    for (auto& [channel, stream] : records_.at(id).out)
      stream->end_when_empty();
    settle(records_.find(id));
  }
  answer_sweep(nspace);
}

/// Answers once the streams of the job have come to their ends, so that nothing
/// of it comes later.
void process_table::answer_sweep(const std::string& nspace) {
  const auto sweep = sweeps_.find(nspace);
  if (sweep == sweeps_.end() || !sweep->second.outcome)
    return;
  for (const auto& [id, x] : records_)
    if (x.proc.nspace == nspace && !x.is_running() && !x.is_silent())
      return;
  auto node = sweeps_.extract(sweep);
  const auto& outcome = *node.mapped().outcome;
  for (auto& reply : node.mapped().replies)
    if (outcome)
      reply.deliver(outcome);
    else
      reply.deliver(ack{});
}

} // namespace troupe
