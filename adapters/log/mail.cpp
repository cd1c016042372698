#include "adapters/log/mail.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/awaited_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace troupe {

namespace {

using clock = std::chrono::steady_clock;

bool is_one_line(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto x = static_cast<uint8_t>(c);
    return x < 0x20 || x == 0x7f;
  });
}

/// Waits until `fd` has one of `events`.
/// @returns whether it came in time.
bool wait_for(int fd, short events, clock::time_point deadline) {
  for (;;) {
    const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    auto ready = pollfd{fd, events, 0};
    const auto n =
      poll(&ready, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (n >= 0 || errno != EINTR)
      return n > 0;
  }
}

/// Writes all of `text`, unless the reader goes away first.
/// @returns whether it could be done in time.
bool write_all(int fd, const std::string& text, clock::time_point deadline) {
  size_t written = 0;
  while (written < text.size()) {
    const auto n = write(fd, text.data() + written, text.size() - written);
    if (n >= 0)
      written += static_cast<size_t>(n);
    else if (errno == EAGAIN && !wait_for(fd, POLLOUT, deadline))
      return false;
    else if (errno != EAGAIN && errno != EINTR)
      return true; // Its exit status says what is wrong.
  }
  return true;
}

/// Starts `program` with `input` as its standard input.
pid_t start(const std::string& program, int input) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  // -t: the recipients stand in the header; -oi: a dot alone ends nothing.
  std::string words[] = {program, "-t", "-oi"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = -1;
  const auto error =
    posix_spawn(&pid, program.c_str(), &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

/// Reaps `pid`; kills it first if it does not end in time.
/// @returns whether it did, and its wait status.
std::pair<bool, int> await_end(pid_t pid, clock::time_point deadline) {
  const auto pidfd =
    unique_fd{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
  const auto in_time = pidfd && wait_for(pidfd.get(), POLLIN, deadline);
  if (!in_time)
    kill(pid, SIGKILL);
  int result = 0;
  while (waitpid(pid, &result, 0) < 0 && errno == EINTR) {
    // Again.
  }
  return {in_time, result};
}

} // namespace

std::optional<std::string> compose_mail(const mail_envelope& envelope,
                                        const std::string& text) {
  const auto is_blank =
    envelope.to.find_first_not_of(" ,") == std::string::npos;
  if (is_blank || !is_one_line(envelope.to)
      || !is_one_line(envelope.from.value_or(""))
      || !is_one_line(envelope.subject.value_or("")))
    return std::nullopt;
  auto result = "To: " + envelope.to + '\n';
  if (envelope.from)
    result += "From: " + *envelope.from + '\n';
  if (envelope.subject)
    result += "Subject: " + *envelope.subject + '\n';
  result += "MIME-Version: 1.0\n"
            "Content-Type: text/plain; charset=utf-8\n"
            "Content-Transfer-Encoding: 8bit\n\n";
  result += text;
  if (result.back() != '\n')
    result += '\n';
  return result;
}

delivery_outcome send_mail(const std::string& sendmail, const std::string& mail,
                           std::chrono::milliseconds limit) {
  const auto deadline = clock::now() + limit;
  if (access(sendmail.c_str(), X_OK) != 0)
    return {status::not_supported, "no mail on this node: " + sendmail + ": "
                                     + std::strerror(errno)
                                     + "; install a mail transfer agent"};
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
    return {status::sys_limits_pipes, std::strerror(errno)};
  auto input = unique_fd{fds[0]};
  auto output = unique_fd{fds[1]};
  fcntl(input.get(), F_SETFL, 0); // The program expects to wait for its input.
  const awaited_child child{[&] { return start(sendmail, input.get()); }};
  if (child.pid() < 0)
    return {status::not_supported, "cannot start " + sendmail};
  input.reset();
  const auto was_written = write_all(output.get(), mail, deadline);
  output.reset();
  if (!was_written)
    kill(child.pid(), SIGKILL);
  const auto [in_time, wait_status] = await_end(child.pid(), deadline);
  if (!was_written || !in_time)
    return {status::timeout, sendmail + " did not end in time and was killed"};
  if (wait_status != 0)
    return {status::error, sendmail + " refused the mail; see the mail log"};
  return {status::success, {}};
}

} // namespace troupe
