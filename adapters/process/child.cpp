#include "adapters/process/child.hpp"

#include "adapters/process/descriptors.hpp"
#include "messages/process.hpp"
#include "messages/status.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

// -- program and directory ---------------------------------------------------

namespace {

using namespace std::string_literals;

/// What execvp(3) takes if there is no PATH.
constexpr auto default_path = std::string_view{"/bin:/usr/bin"};

std::string_view path_of(const std::vector<std::string>& env) {
  constexpr auto prefix = std::string_view{"PATH="};
  for (const auto& x : env)
    if (x.compare(0, prefix.size(), prefix) == 0)
      return std::string_view{x}.substr(prefix.size());
  return default_path;
}

/// Where `path` is for us, who are not in the working directory.
std::string from_here(const std::string& wdir, const std::string& path) {
  if (wdir.empty() || path.front() == '/')
    return path;
  return wdir + '/' + path;
}

/// @returns 0 if `path` can be executed, else an error number.
int check_executable(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    return errno;
  if (S_ISDIR(info.st_mode))
    return EISDIR;
  if (!S_ISREG(info.st_mode))
    return EACCES;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

bool is_missing(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

launch_failure not_executable(const std::string& program, int error) {
  return {status::job_app_not_executable, "cannot execute " + program + ": "
                                            + std::strerror(error)
                                            + "; check its permissions"};
}

/// Finds the program that `request` names, as execvp(3) would in its working
/// directory and with its PATH.
/// @returns its path, absolute or relative to the working directory.
std::variant<std::string, launch_failure>
find_program(const start_process& request) {
  const auto& program = request.program;
  if (program.empty())
    return launch_failure{status::job_no_exe_specified,
                          "no program is given; name the one to start"};
  if (program.find('/') != std::string::npos) {
    const auto path = from_here(request.wdir, program);
    const auto error = check_executable(path);
    if (error == 0)
      return program;
    if (is_missing(error))
      return launch_failure{status::job_exe_not_found,
                            "cannot find the program " + path
                              + "; check the path"};
    return not_executable(path, error);
  }
  const auto path = path_of(request.env);
  auto worst = launch_failure{status::job_exe_not_found,
                              "cannot find the program " + program
                                + " in the PATH (" + std::string{path}
                                + "); give its full path or extend the PATH"};
  for (size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    const auto folder = path.substr(begin, end - begin);
    // An empty entry stands for the working directory; the slash keeps the
    // result from being looked up again.
    auto candidate =
      (folder.empty() ? "."s : std::string{folder}) + '/' + program;
    const auto error = check_executable(from_here(request.wdir, candidate));
    if (error == 0)
      return candidate;
    if (error == EACCES)
      worst = not_executable(candidate, error);
    begin = end + 1;
  }
  return worst;
}

/// Checks the working directory of `request`.
/// @returns a failure with the code `success` if it can be used.
launch_failure check_directory(const start_process& request) {
  const auto& wdir = request.wdir;
  if (wdir.empty())
    return {status::success, {}};
  const auto refuse = [&](status code, int error) {
    return launch_failure{code, "cannot start " + request.program
                                  + " in the directory " + wdir + ": "
                                  + std::strerror(error)
                                  + "; create it or name another one"};
  };
  struct stat info {};
  if (stat(wdir.c_str(), &info) != 0)
    return refuse(is_missing(errno) ? status::job_wdir_not_found
                                    : status::job_wdir_not_accessible,
                  errno);
  if (!S_ISDIR(info.st_mode))
    return refuse(status::job_wdir_not_accessible, ENOTDIR);
  if (faccessat(AT_FDCWD, wdir.c_str(), X_OK, AT_EACCESS) != 0)
    return refuse(status::job_wdir_not_accessible, errno);
  return {status::success, {}};
}

// -- terminals ---------------------------------------------------------------

/// A pseudo-terminal that nobody has opened yet.
struct terminal {
  /// Does not block.
  unique_fd master;

  /// What the process opens.
  std::string path;
};

/// Makes a terminal pass on what is written as it is.
void make_plain(int master) {
  termios settings{};
  if (tcgetattr(master, &settings) != 0)
    return;
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  settings.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | ISTRIP
                                             | INPCK | IXON | IXOFF | IUCLC);
  settings.c_lflag &=
    ~static_cast<tcflag_t>(ECHO | ECHOE | ECHOK | ECHONL | ECHOCTL | ECHOKE);
  tcsetattr(master, TCSANOW, &settings);
}

/// Opens a pseudo-terminal. One with a size is somebody's screen: it echoes and
/// ends lines as terminals do. One without passes output on byte for byte and
/// does not echo, so that its stream is what the process wrote.
/// @returns nothing if the system has none left; errno says why.
std::optional<terminal> open_terminal(uint16_t rows, uint16_t columns) {
  terminal result;
  result.master.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char path[64];
  const auto fd = result.master.get();
  if (!result.master || grantpt(fd) != 0 || unlockpt(fd) != 0
      || ptsname_r(fd, path, sizeof(path)) != 0
      || fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
    return std::nullopt;
  result.path = path;
  if (rows > 0 && columns > 0) {
    const winsize size{rows, columns, 0, 0};
    ioctl(fd, TIOCSWINSZ, &size);
  } else {
    make_plain(fd);
  }
  return result;
}

// -- standard streams --------------------------------------------------------

/// A pipe; we keep one end, which does not block us.
struct pipe_ends {
  unique_fd ours;
  unique_fd theirs;
};

/// The standard streams of a child, and what else it finds open.
struct child_streams {
  pipe_ends in;
  pipe_ends out;
  pipe_ends err;
  pipe_ends diag;
  pipe_ends pmi1;

  /// The path of its terminal.
  std::string terminal;
};

/// The highest number under which a child gets a descriptor from us.
constexpr auto last_descriptor = pmi1_descriptor + 1;

/// The child's end of a pipe or socket, out of the way of the numbers under
/// which the child gets it and the others.
bool keep_clear(unique_fd& x) {
  if (x.get() > last_descriptor)
    return true;
  x.reset(fcntl(x.get(), F_DUPFD_CLOEXEC, last_descriptor + 1));
  return static_cast<bool>(x);
}

/// @param our_end 0 to read from the child, 1 to write to it.
bool open_pipe(pipe_ends& x, int our_end) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return false;
  x.ours.reset(fds[our_end]);
  x.theirs.reset(fds[1 - our_end]);
  return fcntl(x.ours.get(), F_SETFL, O_NONBLOCK) == 0 && keep_clear(x.theirs);
}

/// A socket; both ends are closed by programs that do not ask for theirs.
bool open_socket(pipe_ends& x) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return false;
  x.ours.reset(fds[0]);
  x.theirs.reset(fds[1]);
  return keep_clear(x.theirs);
}

/// The number under which a child finds its stream for diagnostics.
int stddiag_of(const start_process& request) {
  return request.with_pmi1 ? pmi1_descriptor + 1 : STDERR_FILENO + 1;
}

/// Opens what a child needs.
std::variant<child_streams, launch_failure>
open_streams(const start_process& request) {
  child_streams result;
  auto& x = result;
  if (request.with_pty) {
    auto terminal = open_terminal(request.pty_rows, request.pty_columns);
    if (!terminal)
      return launch_failure{
        status::sys_limits_pipes,
        "cannot open a terminal for " + request.program + ": "
          + std::strerror(errno)
          + "; raise kernel.pty.max, or run it without one"};
    x.terminal = std::move(terminal->path);
    x.out.ours = std::move(terminal->master);
  }
  auto is_open = x.out.ours || open_pipe(x.out, 0);
  if (request.with_pty && request.with_stdin) {
    x.in.ours.reset(
      fcntl(x.out.ours.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    is_open = static_cast<bool>(x.in.ours);
  } else if (request.with_stdin) {
    is_open = is_open && open_pipe(x.in, 1);
  }
  if (!is_open
      || (!request.with_pty && !request.merges_stderr && !open_pipe(x.err, 0))
      || (request.with_stddiag && !open_pipe(x.diag, 0))
      || (request.with_pmi1 && !open_socket(x.pmi1)))
    return launch_failure{status::sys_limits_pipes,
                          "cannot open the pipes of " + request.program + ": "
                            + std::strerror(errno)
                            + "; raise the limit of open files (ulimit -n)"};
  return result;
}

// -- birth of a process ------------------------------------------------------

/// What a new process does between its birth and its program, in this order.
/// The strings and arrays are the caller's.
struct program_start {
  /// Descriptors 0, 1, 2, ... of the process are copies of ours; all others
  /// are closed. Ours have higher numbers.
  static constexpr int most_descriptors = 5;

  /// It is /dev/null, or a copy of descriptor 1 of the process.
  static constexpr int nothing = -1;
  static constexpr int as_output = -2;

  /// Empty: the caller's directory.
  const char* directory = "";

  /// Descriptor 1 is this terminal, which it then controls, in a session of its
  /// own; empty: a copy, in this process group.
  const char* terminal = "";
  child_group group = child_group::own;

  std::array<int, most_descriptors> descriptors{};
  int count = 0;

  /// The limit of open files that it gets; nullptr: ours.
  const rlimit* open_files = nullptr;

  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* env = nullptr;
};

/// A process that runs its program, or the error number of why it does not.
struct started_program {
  int error = 0;
  pid_t pid = -1;
  unique_fd pidfd;
};

/// Room for the calls that a process makes before its program; sanitizers use
/// more of it.
constexpr size_t stack_size = size_t{128} << 10;

/// Shared by both processes until one of them runs its program.
struct shared_start {
  const program_start& how;
  int error = 0;
};

// -- in the new process: no memory is allocated, no lock taken ---------------

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
  const auto has_group =
    *how.terminal != '\0'
      ? setsid() >= 0
      : how.group == child_group::parents || setpgid(0, 0) == 0;
  if (!has_group || (*how.directory != '\0' && chdir(how.directory) != 0))
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

/// Starts a program with default signal dispositions and no signal blocked.
/// As posix_spawn of the GNU C Library does, the process shares our memory
/// until its program runs, and this thread waits for that; but posix_spawn
/// knows no limits, and what we changed in ours for the time of a start would
/// hold for our other threads, too.
/// Source: clone(2), CLONE_VFORK, CLONE_PIDFD.
started_program start_program(const program_start& how) {
  auto result = started_program{};
  auto shared = shared_start{how, 0};
  // Not filled: only the pages that the process reaches cost anything.
  const auto stack = std::unique_ptr<char[]>{new char[stack_size]};
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

// -- start -------------------------------------------------------------------

/// A set of processors of any size.
class cpu_mask {
public:
  explicit cpu_mask(size_t count)
    : size_(CPU_ALLOC_SIZE(count)), set_(CPU_ALLOC(count)) {
    if (set_ == nullptr)
      throw std::bad_alloc{};
    CPU_ZERO_S(size_, set_.get());
  }

  void add(uint32_t cpu) {
    CPU_SET_S(cpu, size_, set_.get());
  }

  bool load() {
    return sched_getaffinity(0, size_, set_.get()) == 0;
  }

  bool store() const {
    return sched_setaffinity(0, size_, set_.get()) == 0;
  }

private:
  struct deleter {
    void operator()(cpu_set_t* x) const {
      CPU_FREE(x);
    }
  };

  size_t size_;
  std::unique_ptr<cpu_set_t, deleter> set_;
};

/// The most processors a kernel can be built for, with room to spare.
constexpr uint32_t max_cpus = 65536;

/// Binds the calling thread, for the child to inherit, as long as it lives.
class borrowed_binding {
public:
  explicit borrowed_binding(const std::vector<uint32_t>& cpus) {
    if (cpus.empty())
      return;
    const auto highest = *std::max_element(cpus.begin(), cpus.end());
    if (highest >= max_cpus) {
      failed_ = true;
      return;
    }
    auto wanted = cpu_mask{highest + size_t{1}};
    for (const auto cpu : cpus)
      wanted.add(cpu);
    previous_.emplace(max_cpus);
    failed_ = !previous_->load() || !wanted.store();
    if (failed_)
      previous_.reset();
  }

  borrowed_binding(const borrowed_binding&) = delete;

  borrowed_binding& operator=(const borrowed_binding&) = delete;

  ~borrowed_binding() {
    if (previous_)
      previous_->store();
  }

  bool failed() const {
    return failed_;
  }

private:
  std::optional<cpu_mask> previous_;
  bool failed_ = false;
};

/// Pointers as exec wants them.
std::vector<char*> pointers_to(const std::vector<std::string>& xs) {
  std::vector<char*> result;
  result.reserve(xs.size() + 1);
  for (const auto& x : xs)
    result.push_back(const_cast<char*>(x.c_str())); // exec does not write.
  result.push_back(nullptr);
  return result;
}

/// What is added to the environment of a child.
std::vector<std::string> added_variables(const start_process& request,
                                         const std::string& mark) {
  auto result = std::vector<std::string>{};
  if (!mark.empty())
    result.push_back(mark);
  if (request.with_stddiag)
    result.push_back(std::string{stddiag_variable} + '='
                     + std::to_string(stddiag_of(request)));
  return result;
}

/// The environment of a child, as exec wants it. What another launcher may have
/// left in it would name a descriptor, or the guard, of somebody else.
std::vector<char*> environment_of(const start_process& request,
                                  const std::string& mark,
                                  const std::vector<std::string>& added) {
  const auto diag = std::string{stddiag_variable} + '=';
  const auto guard = mark.substr(0, mark.find('=') + 1);
  const auto begins = [](const std::string& x, const std::string& name) {
    return !name.empty() && x.compare(0, name.size(), name) == 0;
  };
  auto result = std::vector<char*>{};
  result.reserve(request.env.size() + added.size() + 1);
  for (const auto& x : request.env)
    if (!begins(x, diag) && !begins(x, guard))
      result.push_back(const_cast<char*>(x.c_str())); // exec does not write.
  for (const auto& x : added)
    result.push_back(const_cast<char*>(x.c_str()));
  result.push_back(nullptr);
  return result;
}

bool has_zero_byte(const std::string& x) {
  return x.find('\0') != std::string::npos;
}

bool is_passable(const start_process& x) {
  return !has_zero_byte(x.program) && !has_zero_byte(x.wdir)
         && std::none_of(x.argv.begin(), x.argv.end(), has_zero_byte)
         && std::none_of(x.env.begin(), x.env.end(), has_zero_byte);
}

std::string list_of(const std::vector<uint32_t>& cpus) {
  std::string result;
  for (const auto cpu : cpus)
    result += (result.empty() ? "" : ",") + std::to_string(cpu);
  return result;
}

/// What the error of a start means after `find_program` was content.
launch_failure explain(int error, const std::string& program) {
  const auto cannot = "cannot execute " + program + ": ";
  switch (error) {
    case ENOENT:
      return {status::job_app_not_executable,
              cannot
                + "the interpreter or loader that it names does not exist; "
                  "install it or correct the first line of the script"};
    case ENOEXEC:
      return {status::job_app_not_executable,
              cannot
                + "neither a program for this machine nor a script with an "
                  "interpreter in its first line"};
    case EAGAIN:
    case ENOMEM:
      return {status::sys_limits_children,
              "cannot start " + program + ": " + std::strerror(error)
                + "; raise the limit of processes (ulimit -u) or start fewer"};
    case EMFILE:
    case ENFILE:
      return {status::sys_limits_files,
              "cannot start " + program + ": " + std::strerror(error)
                + "; raise the limit of open files (ulimit -n)"};
    case E2BIG:
      return {status::bad_param,
              cannot + "arguments and environment are too long; shorten them"};
    default:
      return {status::job_app_not_executable,
              cannot + std::strerror(error) + "; check the program"};
  }
}

/// The ends that the child gets, by their numbers.
void connect(const child_streams& x, const start_process& request,
             program_start& how) {
  const auto add = [&how](int fd) {
    how.descriptors[static_cast<size_t>(how.count++)] = fd;
  };
  add(!request.with_stdin ? program_start::nothing
      : request.with_pty  ? program_start::as_output
                          : x.in.theirs.get());
  how.terminal = x.terminal.c_str();
  add(x.out.theirs.get());
  add(x.err.theirs ? x.err.theirs.get() : program_start::as_output);
  if (request.with_pmi1)
    add(x.pmi1.theirs.get());
  if (request.with_stddiag)
    add(x.diag.theirs.get());
}

} // namespace

std::variant<child, launch_failure> spawn_child(const start_process& request,
                                                const std::string& mark,
                                                child_group group) {
  if (!is_passable(request))
    return launch_failure{
      status::bad_param, "a name, an argument or the environment of "
                           + request.program + " holds a zero byte; remove it"};
  if (auto failure = check_directory(request); failure.code != status::success)
    return failure;
  auto found = find_program(request);
  if (auto* failure = std::get_if<launch_failure>(&found))
    return std::move(*failure);
  const auto& path = std::get<std::string>(found);
  auto opened = open_streams(request);
  if (auto* failure = std::get_if<launch_failure>(&opened))
    return std::move(*failure);
  auto& streams = std::get<child_streams>(opened);
  auto how = program_start{};
  how.path = path.c_str();
  how.directory = request.wdir.c_str();
  how.group = group;
  how.open_files = former_descriptor_limit();
  connect(streams, request, how);
  const auto argv = pointers_to(request.argv);
  char* const only_name[] = {const_cast<char*>(request.program.c_str()),
                             nullptr};
  const auto added = added_variables(request, mark);
  const auto env = environment_of(request, mark, added);
  how.argv = request.argv.empty() ? only_name : argv.data();
  how.env = env.data();
  auto started = started_program{};
  {
    const borrowed_binding binding{request.cpus};
    if (binding.failed())
      return launch_failure{status::bad_param,
                            "cannot bind " + request.program
                              + " to the processors " + list_of(request.cpus)
                              + "; choose among those the daemon may use"};
    started = start_program(how);
  }
  if (started.error != 0)
    return explain(started.error, path);
  child result;
  result.pid = started.pid;
  result.pidfd = std::move(started.pidfd);
  result.in = std::move(streams.in.ours);
  result.out = std::move(streams.out.ours);
  result.err = std::move(streams.err.ours);
  result.diag = std::move(streams.diag.ours);
  result.pmi1 = std::move(streams.pmi1.ours);
  return result;
}

} // namespace troupe
