#include "runtime/daemon_start.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "messages/status.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace troupe {

namespace {

caf::error refuse(status code, const std::string& what, int error,
                  const std::string& remedy) {
  return make_error(code, "cannot start a daemon: " + what + ": "
                            + std::strerror(error) + "; " + remedy);
}

/// A pipe with the key in it, at whose end the reader is then.
caf::expected<unique_fd> pipe_with(std::string_view key) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
    return refuse(status::sys_limits_pipes, "there is no pipe", errno,
                  "raise the limit of open files (ulimit -n)");
  auto out = unique_fd{fds[0]};
  const auto in = unique_fd{fds[1]};
  if (::write(in.get(), key.data(), key.size())
      != static_cast<ssize_t>(key.size()))
    return refuse(status::sys_limits_pipes, "its key does not fit into a pipe",
                  ENOBUFS, "see pipe-user-pages-soft in pipe(7)");
  // Who reads waits for the end.
  ::fcntl(out.get(), F_SETFL, 0);
  return out;
}

/// How a process starts, with what the system keeps for that.
class spawn_plan {
public:
  explicit spawn_plan(int input) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP
                                             | POSIX_SPAWN_SETSIGMASK
                                             | POSIX_SPAWN_SETSIGDEF);
  }

  spawn_plan(const spawn_plan&) = delete;

  spawn_plan& operator=(const spawn_plan&) = delete;

  ~spawn_plan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  /// @returns an error number.
  int start(pid_t& pid, char* const* argv) const {
    return posix_spawnp(&pid, argv[0], &actions_, &attributes_, argv, environ);
  }

private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

} // namespace

caf::expected<pid_t> start_daemon(std::vector<std::string> command,
                                  const node_key& key) {
  if (command.empty())
    return make_error(status::bad_param,
                      "start_daemon() has no command; name a program");
  const auto input = pipe_with(key.bytes());
  if (!input)
    return input.error();
  auto argv = std::vector<char*>{};
  for (auto& x : command)
    argv.push_back(x.data());
  argv.push_back(nullptr);
  auto pid = pid_t{-1};
  if (const auto error = spawn_plan{input->get()}.start(pid, argv.data()))
    return refuse(status::job_exe_not_found, command.front(), error,
                  "check its path");
  return pid;
}

} // namespace troupe
