#include "adapters/process/program_start.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace troupe {

namespace {

/// Room for the calls that a process makes before its program; sanitizers use
/// more of it.
constexpr size_t stack_size = size_t{128} << 10;

/// Shared by both processes until one of them runs its program.
struct shared_start {
  const program_start& how;
  int error = 0;
};

// -- in the new process: no memory is allocated, no lock taken
// ---------------------------------------------------------------

void reset_signals() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (auto i = 1; i < NSIG; ++i)
    sigaction(i, &by_default, nullptr); // Some cannot be changed.
}

/// Opens a file under the number of a descriptor, whatever that was before.
bool open_as(int fd, const char* path, int flags) {
  close(fd);
  const auto opened = open(path, flags);
  if (opened < 0 || opened == fd)
    return opened == fd;
  const auto is_moved = dup2(opened, fd) == fd;
  close(opened);
  return is_moved;
}

bool connect(const program_start& how, int fd) {
  const auto from = how.descriptors[static_cast<size_t>(fd)];
  if (fd == STDOUT_FILENO && *how.terminal != '\0')
    // The leader of a session gets the terminal that it opens.
    return open_as(fd, how.terminal, O_RDWR);
  if (from == program_start::nothing)
    return open_as(fd, "/dev/null", O_RDONLY);
  return dup2(from == program_start::as_output ? STDOUT_FILENO : from, fd)
         == fd;
}

/// @returns only if the program does not run; `errno` says why.
void run_program(const program_start& how) {
  reset_signals();
  const auto is_leader =
    *how.terminal != '\0' ? setsid() >= 0 : setpgid(0, 0) == 0;
  if (!is_leader || (*how.directory != '\0' && chdir(how.directory) != 0))
    return;
  // Others may be copies of standard output.
  if (!connect(how, STDOUT_FILENO))
    return;
  for (auto fd = 0; fd < how.count; ++fd)
    if (fd != STDOUT_FILENO && !connect(how, fd))
      return;
  // Close-on-exec is not enough: what we inherited ourselves may lack it.
  closefrom(how.count);
  // Fails only if somebody has lowered the hard limit since: then that holds.
  if (how.open_files != nullptr)
    setrlimit(RLIMIT_NOFILE, how.open_files);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(how.path, how.argv, how.env);
}

int begin(void* x) {
  auto& shared = *static_cast<shared_start*>(x);
  run_program(shared.how);
  shared.error = errno;
  return 127; // Ends the new process.
}

} // namespace

started_program start_program(const program_start& how) {
  auto result = started_program{};
  auto shared = shared_start{how, 0};
  const auto stack = std::make_unique<char[]>(stack_size);
  auto* top = stack.get() + stack_size;
  top -= reinterpret_cast<std::uintptr_t>(top) % 16;
  // A handler of ours must not run in the other process, in our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  auto pidfd = -1;
  result.pid = clone(begin, top, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                     &shared, &pidfd);
  result.error = result.pid < 0 ? errno : shared.error;
  if (result.pid >= 0)
    result.pidfd.reset(pidfd);
  if (result.pid >= 0 && result.error != 0)
    while (waitpid(result.pid, nullptr, 0) < 0 && errno == EINTR) {
      // Again.
    }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

} // namespace troupe
