#include "adapters/process/command.hpp"

#include "adapters/process/awaited_child.hpp"
#include "adapters/process/child.hpp"
#include "config/defaults.hpp"
#include "messages/process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

using clock = std::chrono::steady_clock;

/// Milliseconds that a process may take to end after SIGKILL.
constexpr auto kill_patience = 500;

constexpr auto reads_at_once = 16;

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// What is to be started.
start_process program_of(const run_command& request,
                         const std::vector<std::string>& environment) {
  auto result = start_process{};
  result.program = request.argv.front();
  result.argv = request.argv;
  result.env = request.env;
  for (const auto& x : environment) {
    const auto is_replaced =
      std::any_of(request.env.begin(), request.env.end(),
                  [&](const auto& y) { return name_of(x) == name_of(y); });
    if (!is_replaced)
      result.env.push_back(x);
  }
  result.wdir = request.wdir;
  result.with_stdin = true;
  return result;
}

/// A command that runs.
class running_command {
public:
  running_command(child started, std::string input, clock::time_point deadline,
                  int stop)
    : child_(std::move(started)), input_(std::move(input)), deadline_(deadline),
      stop_(stop) {
    // nop
  }

  command_outcome wait() {
    write_some();
    while (!has_ended_)
      turn();
    read_some(child_.out);
    read_some(child_.err);
    auto ended = pollfd{child_.pidfd.get(), POLLIN, 0};
    if (::poll(&ended, 1, kill_patience) == 0)
      return {std::move(result_), std::move(child_.pidfd)};
    int how = 0;
    while (::waitpid(child_.pid, &how, 0) < 0 && errno == EINTR) {
      // Again.
    }
    if (WIFSIGNALED(how))
      result_.signal = WTERMSIG(how);
    else
      result_.exit_code = WEXITSTATUS(how);
    return {std::move(result_), {}};
  }

private:
  /// Waits until something happens, and deals with it.
  void turn() {
    const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline_ - clock::now());
    if (left.count() <= 0) {
      result_.timed_out = true;
      end();
      return;
    }
    constexpr auto longest = int64_t{60'000};
    pollfd fds[] = {{child_.pidfd.get(), POLLIN, 0},
                    {descriptor(child_.out), POLLIN, 0},
                    {descriptor(child_.err), POLLIN, 0},
                    {descriptor(child_.in), POLLOUT, 0},
                    {stop_, POLLIN, 0}};
    const auto n = ::poll(fds, std::size(fds),
                          static_cast<int>(std::min(left.count(), longest)));
    if (n <= 0)
      return;
    if (fds[1].revents != 0)
      read_some(child_.out);
    if (fds[2].revents != 0)
      read_some(child_.err);
    if (fds[3].revents != 0)
      write_some();
    if (fds[4].revents != 0)
      end();
    else if (fds[0].revents != 0)
      has_ended_ = true;
  }

  static int descriptor(const unique_fd& fd) {
    return fd ? fd.get() : -1;
  }

  void end() {
    ::kill(-child_.pid, SIGKILL);
    ::kill(child_.pid, SIGKILL);
    has_ended_ = true;
  }

  /// Takes what is there, as far as somebody wants it.
  void read_some(unique_fd& fd) {
    char buffer[16384];
    // Who writes without end does not keep us here.
    for (auto turns = 0; fd && turns < reads_at_once; ++turns) {
      const auto n = ::read(fd.get(), buffer, sizeof buffer);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno == EAGAIN)
        return;
      if (n <= 0) {
        fd.reset();
        return;
      }
      const auto room = defaults::command_output - result_.output.size();
      const auto size = static_cast<size_t>(n);
      result_.output.append(buffer, std::min(room, size));
      result_.is_truncated = result_.is_truncated || size > room;
    }
  }

  void write_some() {
    while (child_.in && written_ < input_.size()) {
      const auto n = ::write(child_.in.get(), input_.data() + written_,
                             input_.size() - written_);
      if (n > 0)
        written_ += static_cast<size_t>(n);
      else if (errno == EAGAIN)
        return;
      else if (errno != EINTR)
        break; // Nobody reads any more.
    }
    child_.in.reset();
  }

  child child_;
  std::string input_;
  size_t written_ = 0;
  clock::time_point deadline_;
  int stop_;
  bool has_ended_ = false;
  command_result result_;
};

} // namespace

command_outcome perform_command(const run_command& request,
                                const std::vector<std::string>& environment,
                                int stop) {
  if (request.argv.empty() || request.argv.front().empty())
    return {launch_failure{status::bad_param, "there is no command to run"},
            {}};
  const auto limit = std::clamp<std::chrono::nanoseconds>(
    request.limit, std::chrono::milliseconds{1}, defaults::command_time_max);
  const auto deadline = clock::now() + limit;
  const auto program = program_of(request, environment);
  auto failure = launch_failure{};
  auto started = std::optional<child>{};
  const awaited_child guard{[&] {
    auto outcome = spawn_child(program);
    if (auto* why = std::get_if<launch_failure>(&outcome)) {
      failure = std::move(*why);
      return pid_t{-1};
    }
    started = std::move(std::get<child>(outcome));
    return started->pid;
  }};
  if (!started)
    return {std::move(failure), {}};
  return running_command{std::move(*started), request.input, deadline, stop}
    .wait();
}

} // namespace troupe
