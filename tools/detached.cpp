#include "tools/detached.hpp"

#include "adapters/loop/read_write.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace troupe {

namespace {

/// Waits for the report: a byte with the status, then the text. Ends `child` if
/// whoever reads our output is gone.
[[noreturn]] void await_report(int pipe, pid_t child) {
  auto report = std::string{};
  for (;;) {
    pollfd watched[] = {{pipe, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
    if (::poll(watched, 2, -1) < 0) {
      if (errno == EINTR)
        continue;
      break;
    }
    if ((watched[1].revents & (POLLERR | POLLHUP)) != 0) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      std::_Exit(1);
    }
    if (watched[0].revents == 0)
      continue;
    char room[4096];
    const auto n = ::read(pipe, room, sizeof(room));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    report.append(room, static_cast<size_t>(n));
  }
  if (report.empty()) {
    auto status = 0;
    ::waitpid(child, &status, 0);
    const auto text = WIFSIGNALED(status)
                        ? "trouped: the daemon was killed by signal "
                            + std::to_string(WTERMSIG(status)) + "\n"
                        : std::string{"trouped: the daemon ended without a "
                                      "word; see its log\n"};
    write_all(STDERR_FILENO, text);
    std::_Exit(1);
  }
  const auto status = static_cast<unsigned char>(report.front());
  write_all(status == 0 ? STDOUT_FILENO : STDERR_FILENO,
            std::string_view{report}.substr(1));
  std::_Exit(status);
}

} // namespace

detached detached::split() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    std::perror("trouped: cannot open a pipe");
    std::exit(1);
  }
  auto reads = unique_fd{fds[0]};
  auto writes = unique_fd{fds[1]};
  const auto child = ::fork();
  if (child < 0) {
    std::perror("trouped: cannot start a process; raise ulimit -u");
    std::exit(1);
  }
  if (child > 0) {
    writes.reset();
    await_report(reads.get(), child);
  }
  ::setsid();
  auto result = detached{};
  result.is_split_ = true;
  result.pipe_ = std::move(writes);
  return result;
}

void detached::report(int status, const std::string& text) {
  if (is_reported_)
    return;
  is_reported_ = true;
  if (!is_split_) {
    write_all(status == 0 ? STDOUT_FILENO : STDERR_FILENO, text);
    return;
  }
  const auto bytes = std::string(1, static_cast<char>(status)) + text;
  write_all(pipe_.get(), bytes);
  pipe_.reset();
}

bool redirect_standard_streams(const std::string& log_file) {
  const auto null = unique_fd{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  auto log = unique_fd{};
  if (!log_file.empty()) {
    log.reset(::open(log_file.c_str(),
                     O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                     S_IRUSR | S_IWUSR));
    if (!log)
      return false;
  }
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(null.get(), STDOUT_FILENO);
  ::dup2(log ? log.get() : null.get(), STDERR_FILENO);
  return true;
}

} // namespace troupe
