#include "adapters/process/orphan_guard.hpp"

#include "adapters/process/children.hpp"
#include "adapters/process/control_groups.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// What the guard is told: a directory's path and a zero byte, or this alone.
constexpr auto goodbye = '\1';

/// Milliseconds that a guard may take to end after the goodbye.
constexpr auto goodbye_time = 2000;

/// Who is stopped first starts nobody any more; so often is looked for others.
constexpr auto looks = 16;

/// Between looks for those that are left; a process that was just being started
/// becomes visible late.
constexpr auto first_pause = 5ms;
constexpr auto last_pause = 160ms;

/// How long the guard tries to kill who does not die, such as those that wait
/// for a disk that hangs.
constexpr auto patience = 60s;

/// The living that have the mark, what they started, and the process groups
/// that they lead.
std::vector<process_entry> find_marked(const std::string& mark) {
  const auto all = list_descendants(false);
  auto found = std::set<pid_t>{};
  for (const auto& [pid, x] : all)
    if (x.is_alive() && pid != getpid() && has_in_environment(pid, mark))
      found.insert(pid);
  for (auto size = found.size() + 1; !found.empty() && size != found.size();) {
    size = found.size();
    for (const auto& [pid, x] : all)
      if (x.is_alive() && pid != getpid()
          && (found.count(x.parent) > 0 || found.count(x.group) > 0))
        found.insert(pid);
  }
  auto result = std::vector<process_entry>{};
  for (const auto pid : found)
    result.push_back(all.at(pid));
  return result;
}

void stop_all(const std::string& mark) {
  for (int i = 0; i < looks; ++i) {
    auto is_complete = true;
    for (const auto& x : find_marked(mark))
      if (x.state != 'T' && x.state != 't')
        is_complete &= !signal_entry(x, SIGSTOP);
    if (is_complete)
      return;
  }
}

void kill_all(const std::string& mark) {
  const auto end = std::chrono::steady_clock::now() + patience;
  auto pause = std::chrono::milliseconds{first_pause};
  stop_all(mark);
  while (pause <= last_pause && std::chrono::steady_clock::now() < end) {
    const auto found = find_marked(mark);
    for (const auto& x : found)
      signal_entry(x, SIGKILL);
    pause = found.empty() ? 2 * pause : first_pause;
    std::this_thread::sleep_for(pause);
  }
}

/// Removes a directory of ours that nobody uses any more.
void remove_directory(const std::string& path) {
  const auto fd = unique_fd{
    open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  auto failure = std::error_code{};
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) == 0)
    std::filesystem::remove_all(path, failure);
}

/// Removes what processes were paused in.
void remove_groups(pid_t launcher) {
  const auto folder = delegated_cgroup();
  if (!folder)
    return;
  const auto begin = "troupe." + std::to_string(launcher) + ".";
  auto failure = std::error_code{};
  auto names = std::vector<std::string>{};
  for (const auto& x : std::filesystem::directory_iterator{*folder, failure})
    if (x.path().filename().string().rfind(begin, 0) == 0)
      names.push_back(x.path().string());
  for (const auto& x : names)
    rmdir(x.c_str());
}

/// Gives the process a name of its own: it has the command line of its parent,
/// by which people find that one and end it (`pkill -f`).
void take_name() {
  constexpr char name[] = "troupe-guard";
  prctl(PR_SET_NAME, name);
  const auto fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  auto size = size_t{0};
  char piece[4096];
  for (auto n = read(fd, piece, sizeof(piece)); n > 0;
       n = read(fd, piece, sizeof(piece)))
    size += static_cast<size_t>(n);
  close(fd);
  // The arguments stand behind one another, from the first on.
  auto* const line = program_invocation_name;
  std::memset(line, 0, size);
  if (size > 0)
    std::memcpy(line, name, std::min(size, sizeof(name)) - 1);
}

/// Lets go of everything that the process has but for `fd`.
/// @returns where that is now.
int leave_all(int fd) {
  take_name();
  setsid();
  // It runs no program.
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  constexpr auto kept = STDERR_FILENO + 1;
  if (fd != kept && dup3(fd, kept, O_CLOEXEC) < 0)
    _exit(1);
  closefrom(kept + 1);
  for (int i = 0; i < kept; ++i)
    close(i);
  while (open("/dev/null", O_RDWR) >= 0 && fcntl(STDERR_FILENO, F_GETFD) < 0) {
    // Again.
  }
  if (chdir("/") != 0)
    _exit(1);
  return kept;
}

[[noreturn]] void watch(int inherited, pid_t launcher,
                        const std::string& mark) {
  const auto fd = leave_all(inherited);
  auto told = std::string{};
  for (;;) {
    char buffer[512];
    const auto n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    told.append(buffer, static_cast<size_t>(n));
    if (told.back() == goodbye)
      _exit(0);
  }
  kill_all(mark);
  remove_groups(launcher);
  for (size_t begin = 0; begin < told.size();) {
    const auto end = std::min(told.find('\0', begin), told.size());
    remove_directory(told.substr(begin, end - begin));
    begin = end + 1;
  }
  _exit(0);
}

} // namespace

std::shared_ptr<orphan_guard> orphan_guard::start() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return nullptr;
  auto ours = unique_fd{fds[0]};
  const auto theirs = unique_fd{fds[1]};
  const auto launcher = getpid();
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  auto mark = guard_variable + std::to_string(launcher) + "."
              + std::to_string(since.count());
  // A fork whose end sends no signal: who waits for children, whichever they
  // are, sees those alone that have been started on purpose.
  // Source: clone(2) and waitpid(2), "__WCLONE".
  const auto pid =
    static_cast<pid_t>(syscall(SYS_clone, 0UL, nullptr, nullptr, nullptr, 0UL));
  if (pid == 0)
    watch(theirs.get(), launcher, mark);
  if (pid < 0)
    return nullptr;
  return std::shared_ptr<orphan_guard>{
    new orphan_guard{pid, std::move(ours), std::move(mark)}};
}

orphan_guard::orphan_guard(pid_t pid, unique_fd fd, std::string mark)
  : pid_(pid), fd_(std::move(fd)), mark_(std::move(mark)) {
  // nop
}

void orphan_guard::set_directory(const std::string& path) {
  send(fd_.get(), path.c_str(), path.size() + 1, MSG_NOSIGNAL);
}

void orphan_guard::say_goodbye() noexcept {
  if (!is_dismissed_)
    send(fd_.get(), &goodbye, 1, MSG_NOSIGNAL);
  is_dismissed_ = true;
}

void orphan_guard::dismiss_if_alone() noexcept {
  // The guard itself is no child to wait for.
  if (!has_children())
    say_goodbye();
}

orphan_guard::~orphan_guard() {
  const auto ended = unique_fd{static_cast<int>(
    syscall(SYS_pidfd_open, pid_, 0))}; // It is our child: it keeps its number.
  say_goodbye();
  auto what = pollfd{ended.get(), POLLIN, 0};
  while (ended && poll(&what, 1, goodbye_time) < 0 && errno == EINTR) {
    // Again.
  }
  waitpid(pid_, nullptr, __WALL | WNOHANG);
}

} // namespace troupe
