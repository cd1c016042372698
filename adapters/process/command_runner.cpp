#include "adapters/process/command_runner.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/child.hpp"
#include "adapters/process/children.hpp"
#include "config/defaults.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/process.hpp"

#include <caf/all.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace troupe {

namespace defaults {

/// Commands that wait for their turn.
inline constexpr size_t commands_waiting = 1024;

} // namespace defaults

// -- a command ---------------------------------------------------------------

namespace {

/// What became of a command.
struct command_outcome {
  std::variant<command_result, launch_failure> result;

  /// Readable once it has ended; none if it has: a process that hangs in the
  /// kernel does not end when it is killed, and is not waited for.
  unique_fd left;
};

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

/// Runs a command to its end, and waits for it. It leads a process group of its
/// own, which is killed when the command's time is up or `stop` becomes
/// readable. What it leaves behind when it ends by itself is left alone.
/// @param environment The daemon's own; variables of the request go before.
/// @param stop        A descriptor; negative: none.
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

} // namespace

// -- the actor ---------------------------------------------------------------

namespace {

constexpr auto pidfd_type = static_cast<idtype_t>(3); // P_PIDFD

thread_pool::limits bounds_of_pool() {
  auto result = thread_pool::limits{};
  result.threads = defaults::commands_running;
  result.waiting = defaults::commands_waiting;
  return result;
}

} // namespace

struct command_runner_state::threads {
  explicit threads(event_loop& loop) : pool(loop, bounds_of_pool()) {
    // nop
  }

  ~threads() {
    const uint64_t one = 1;
    if (*stop && ::write(stop->get(), &one, sizeof one) < 0) {
      // The pool waits for its grace then.
    }
  }

  /// Becomes readable when all commands are to end.
  std::shared_ptr<unique_fd> stop =
    std::make_shared<unique_fd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));

  /// What all commands inherit.
  std::shared_ptr<const std::vector<std::string>> environment;

  /// Commands that were killed and have not ended.
  std::vector<unique_fd> left;

  thread_pool pool;

  /// Forgets those that have ended.
  void look_at_left() {
    const auto has_ended = [](const unique_fd& x) {
      siginfo_t info{};
      ::waitid(pidfd_type, static_cast<id_t>(x.get()), &info,
               WEXITED | WNOHANG);
      auto ended = pollfd{x.get(), POLLIN, 0};
      return ::poll(&ended, 1, 0) > 0;
    };
    left.erase(std::remove_if(left.begin(), left.end(), has_ended), left.end());
  }
};

command_runner_state::command_runner_state() = default;

command_runner_state::~command_runner_state() = default;

command_runner_actor::behavior_type command_runner(
  command_runner_actor::stateful_pointer<command_runner_state> self,
  event_loop* loop, std::vector<std::string> environment) {
  self->state.own = std::make_unique<command_runner_state::threads>(*loop);
  self->state.own->environment =
    std::make_shared<const std::vector<std::string>>(std::move(environment));
  return {
    [self](run_command& request) {
      auto reply = self->make_response_promise<command_result>();
      auto& own = *self->state.own;
      own.look_at_left();
      if (own.left.size() >= defaults::commands_running) {
        reply.deliver(
          make_error(status::resource_busy,
                     std::to_string(own.left.size())
                       + " commands on this node have been killed and do not "
                         "end; see what they wait for (ps)"));
        return reply;
      }
      const auto result = std::make_shared<command_outcome>();
      result->result =
        launch_failure{status::error, "the command could not be run"};
      auto work = [result, request = std::move(request), stop = own.stop,
                   environment = own.environment] {
        *result =
          perform_command(request, *environment, *stop ? stop->get() : -1);
      };
      const auto done = [reply, result, &own]() mutable {
        if (result->left)
          own.left.push_back(std::move(result->left));
        if (auto* failure = std::get_if<launch_failure>(&result->result))
          reply.deliver(make_error(failure->code, failure->reason));
        else
          reply.deliver(std::move(std::get<command_result>(result->result)));
      };
      if (!own.pool.post(std::move(work), done))
        reply.deliver(
          make_error(status::resource_busy,
                     "too many commands wait on this node; ask later"));
      return reply;
    },
  };
}

} // namespace troupe
