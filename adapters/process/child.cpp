#include "adapters/process/child.hpp"

#include "adapters/process/child_streams.hpp"
#include "messages/process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

namespace troupe {

namespace {

/// What happens in the child before the program starts, in this order.
class file_actions {
public:
  file_actions() {
    check(posix_spawn_file_actions_init(&actions_));
  }

  file_actions(const file_actions&) = delete;

  file_actions& operator=(const file_actions&) = delete;

  ~file_actions() {
    posix_spawn_file_actions_destroy(&actions_);
  }

  void change_directory(const std::string& path) {
    check(posix_spawn_file_actions_addchdir_np(&actions_, path.c_str()));
  }

  void open(int fd, const char* path, int flags) {
    check(posix_spawn_file_actions_addopen(&actions_, fd, path, flags, 0));
  }

  void duplicate(int from, int to) {
    check(posix_spawn_file_actions_adddup2(&actions_, from, to));
  }

  /// Close-on-exec is not enough: what we inherited ourselves may lack it.
  void close_all_from(int fd) {
    check(posix_spawn_file_actions_addclosefrom_np(&actions_, fd));
  }

  const posix_spawn_file_actions_t* get() const {
    return &actions_;
  }

private:
  static void check(int error) {
    if (error != 0)
      throw std::bad_alloc{};
  }

  posix_spawn_file_actions_t actions_;
};

class spawn_attributes {
public:
  /// @param group What makes it the leader of a process group.
  explicit spawn_attributes(short group) {
    posix_spawnattr_init(&attributes_);
    sigset_t all;
    sigfillset(&all);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF
                                             | POSIX_SPAWN_SETSIGMASK | group);
  }

  spawn_attributes(const spawn_attributes&) = delete;

  spawn_attributes& operator=(const spawn_attributes&) = delete;

  ~spawn_attributes() {
    posix_spawnattr_destroy(&attributes_);
  }

  const posix_spawnattr_t* get() const {
    return &attributes_;
  }

private:
  posix_spawnattr_t attributes_;
};

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

/// The environment of a child. What another launcher may have left in it would
/// name a descriptor, or the guard, of somebody else.
std::vector<std::string> environment_of(const start_process& request,
                                        const std::string& mark) {
  auto result = request.env;
  const auto remove = [&](const std::string& name) {
    result.erase(std::remove_if(result.begin(), result.end(),
                                [&](const std::string& x) {
                                  return x.compare(0, name.size(), name) == 0;
                                }),
                 result.end());
  };
  const auto name = stddiag_variable + std::string{"="};
  remove(name);
  if (!mark.empty()) {
    remove(mark.substr(0, mark.find('=') + 1));
    result.push_back(mark);
  }
  if (request.with_stddiag)
    result.push_back(name + std::to_string(stddiag_of(request)));
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

/// What posix_spawn's error means after `find_program` was content.
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

/// Gives the child its ends, under their numbers.
void connect(const child_streams& x, const start_process& request,
             file_actions& actions) {
  if (request.with_pty)
    // The leader of a session gets the terminal that it opens.
    actions.open(STDOUT_FILENO, x.terminal.c_str(), O_RDWR);
  else
    actions.duplicate(x.out.theirs.get(), STDOUT_FILENO);
  if (!request.with_stdin)
    actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  else if (request.with_pty)
    actions.duplicate(STDOUT_FILENO, STDIN_FILENO);
  else
    actions.duplicate(x.in.theirs.get(), STDIN_FILENO);
  actions.duplicate(x.err.theirs ? x.err.theirs.get() : STDOUT_FILENO,
                    STDERR_FILENO);
  auto next = STDERR_FILENO + 1;
  if (request.with_pmi1)
    actions.duplicate(x.pmi1.theirs.get(), next++);
  if (request.with_stddiag)
    actions.duplicate(x.diag.theirs.get(), next++);
  actions.close_all_from(next);
}

/// Ends a child that we cannot keep.
void discard(pid_t pid) {
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    // Again.
  }
}

} // namespace

std::variant<child, launch_failure> spawn_child(const start_process& request,
                                                const std::string& mark) {
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
  file_actions actions;
  if (!request.wdir.empty())
    actions.change_directory(request.wdir);
  connect(streams, request, actions);
  static const spawn_attributes in_group{POSIX_SPAWN_SETPGROUP};
  // Who leads a session leads a group, and a terminal needs a session.
  static const spawn_attributes in_session{POSIX_SPAWN_SETSID};
  const auto& attributes = request.with_pty ? in_session : in_group;
  const auto argv = pointers_to(request.argv);
  char* const only_name[] = {const_cast<char*>(request.program.c_str()),
                             nullptr};
  const auto variables = environment_of(request, mark);
  const auto env = pointers_to(variables);
  child result;
  int error = 0;
  {
    const borrowed_binding binding{request.cpus};
    if (binding.failed())
      return launch_failure{status::bad_param,
                            "cannot bind " + request.program
                              + " to the processors " + list_of(request.cpus)
                              + "; choose among those the daemon may use"};
    error =
      posix_spawn(&result.pid, path.c_str(), actions.get(), attributes.get(),
                  request.argv.empty() ? only_name : argv.data(), env.data());
  }
  if (error != 0)
    return explain(error, path);
  result.pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, result.pid, 0)));
  if (!result.pidfd) {
    const auto reason = explain(errno, path);
    discard(result.pid);
    return reason;
  }
  result.in = std::move(streams.in.ours);
  result.out = std::move(streams.out.ours);
  result.err = std::move(streams.err.ours);
  result.diag = std::move(streams.diag.ours);
  result.pmi1 = std::move(streams.pmi1.ours);
  return result;
}

} // namespace troupe
