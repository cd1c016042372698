#include "base/supervisor.hpp"

#include "messages/status.hpp"

#include <caf/actor_clock.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <deque>

namespace troupe {

namespace {

struct supervisor_state {
  static inline const char* name = "supervisor";

  std::function<caf::actor()> make;
  supervision how;
  caf::actor worker;

  /// When it was restarted, the earliest first.
  std::deque<caf::actor_clock::time_point> restarts;

  ~supervisor_state() {
    if (worker)
      caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
  }
};

using self_pointer = caf::stateful_actor<supervisor_state>*;

void start(self_pointer self) {
  self->state.worker = self->state.make();
  self->monitor(self->state.worker);
}

/// Whether one more restart is within the limit; counts it.
bool may_restart(self_pointer self) {
  auto& past = self->state.restarts;
  const auto now = self->clock().now();
  while (!past.empty() && now - past.front() >= self->state.how.window)
    past.pop_front();
  if (past.size() >= self->state.how.restarts)
    return false;
  past.push_back(now);
  return true;
}

void on_down(self_pointer self, const caf::down_msg& what) {
  auto& state = self->state;
  if (what.source != state.worker)
    return;
  const auto reason = caf::to_string(what.reason);
  if (may_restart(self)) {
    state.how.log(severity::error, "the " + state.how.what + " failed ("
                                     + reason + ") and is started again");
    start(self);
    return;
  }
  state.worker = nullptr;
  const auto text = "the " + state.how.what + " failed "
                    + std::to_string(state.how.restarts + 1)
                    + " times in a short while and is given up: " + reason;
  state.how.log(severity::error, text);
  if (state.how.on_given_up)
    state.how.on_given_up(text);
}

caf::behavior behavior(self_pointer self, std::function<caf::actor()> make,
                       supervision how) {
  self->state.make = std::move(make);
  self->state.how = std::move(how);
  self->set_down_handler(
    [self](const caf::down_msg& what) { on_down(self, what); });
  self->set_default_handler(
    [self](caf::scheduled_actor*,
           caf::message_view& x) -> caf::result<caf::message> {
      if (!self->state.worker)
        return make_error(status::unreach,
                          "the " + self->state.how.what + " has been given up");
      self->delegate(self->state.worker, x.move_content_to_message());
      return caf::delegated<caf::message>{};
    });
  start(self);
  // What arrives is for the worker; a behavior has to have something.
  return {[](caf::unit_t) {}};
}

} // namespace

caf::actor supervise_any(caf::actor_system& sys,
                         std::function<caf::actor()> make, supervision how) {
  return sys.spawn(behavior, std::move(make), std::move(how));
}

} // namespace troupe
