#include "adapters/process/command_runner.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/command.hpp"
#include "config/defaults.hpp"

#include <caf/all.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace troupe {

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
        reply.deliver(make_error(
          status::resource_busy,
          std::to_string(own.left.size())
            + " commands on this node have been killed and do not end"));
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
        reply.deliver(make_error(status::resource_busy,
                                 "too many commands wait on this node"));
      return reply;
    },
  };
}

} // namespace troupe
