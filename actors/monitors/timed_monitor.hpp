#pragma once

#include "actors/monitors/monitor_rules.hpp"
#include "config/defaults.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace troupe {

/// How a TIMED MONITOR works.
template <class Rule, class Means>
struct timed_monitor_options {
  /// Reads the settings.
  std::function<caf::expected<Rule>(const start_monitor&)> make;

  /// Gives who looks.
  std::function<Means(const start_monitor&)> find_means;

  /// Whether the request for the monitor is answered once the first look has
  /// shown that it can work; otherwise once `presence` knows the process.
  bool looks_first = true;

  /// Who knows the processes of the node.
  process_probe_actor presence;

  /// How long a look may take.
  caf::timespan limit = defaults::monitor_look_time;
  journal log;
};

/// A monitor that asks a question now and then, and has a rule judge the
/// answer. Looks once at a time; one alert for each time in which something is
/// wrong. Rests when the process has ended.
template <class Rule, class Means>
class timed_monitor {
public:
  struct state_type {
    static inline const char* name = "timed-monitor";

    timed_monitor_options<Rule, Means> options;
    start_monitor request;
    Means means;
    monitor_user_actor user;
    std::optional<Rule> rule;
    caf::typed_response_promise<ack> reply;
    bool is_waiting_for_first = false;

    /// What is wrong has been told.
    bool is_alarmed = false;

    /// Looks that failed since one did not.
    size_t failed = 0;
  };

  using options_type = timed_monitor_options<Rule, Means>;
  TROUPE_SELF_POINTER(timed_monitor_actor, state_type);

  static monitor_actor spawn(caf::actor_system& sys, options_type options) {
    return sys.spawn(&timed_monitor::behavior, std::move(options));
  }

private:
  static timed_monitor_actor::behavior_type behavior(self_pointer self,
                                                     options_type options) {
    self->state.options = std::move(options);
    return {
      [self](start_monitor& request, monitor_user_actor& user) {
        return start(self, request, user);
      },
      [self](stop_monitor) { self->quit(); },
      [self](deadline) { look(self); },
    };
  }

  static caf::result<ack> start(self_pointer self, start_monitor& request,
                                monitor_user_actor& user) {
    auto& state = self->state;
    if (state.rule)
      return make_error(status::err_exists, "the monitor runs already");
    auto rule = state.options.make(request);
    if (!rule)
      return rule.error();
    state.rule.emplace(std::move(*rule));
    state.means = state.options.find_means(request);
    state.request = std::move(request);
    state.user = std::move(user);
    auto reply = self->template make_response_promise<ack>();
    state.reply = reply;
    if (state.options.looks_first) {
      state.is_waiting_for_first = true;
      look(self);
    } else if (state.request.proc == state.request.who.proc
               || !state.options.presence) {
      begin(self);
    } else {
      self
        ->request(state.options.presence, state.options.limit,
                  probe_process{state.request.proc, state.request.pid})
        .then([self](const process_probe&) { begin(self); },
              [self](const caf::error& why) { refuse(self, why); });
    }
    return reply;
  }

  static void begin(self_pointer self) {
    self->state.reply.deliver(ack{});
    look(self);
  }

  static void refuse(self_pointer self, caf::error why) {
    self->state.reply.deliver(std::move(why));
    self->quit();
  }

  static void look(self_pointer self) {
    auto& state = self->state;
    self->request(state.means, state.options.limit, state.rule->question())
      .then(
        [self](const typename Rule::answer_type& seen) { take(self, seen); },
        [self](const caf::error& why) { note_failure(self, why); });
  }

  static void take(self_pointer self, const typename Rule::answer_type& seen) {
    auto& state = self->state;
    if (std::exchange(state.failed, 0) >= defaults::monitor_failed_looks)
      log(state, "works again");
    if (std::exchange(state.is_waiting_for_first, false)) {
      if (auto why = Rule::fitness(seen)) {
        refuse(self, std::move(why));
        return;
      }
      state.reply.deliver(ack{});
    }
    const auto now = self->clock().now().time_since_epoch();
    auto found =
      state.rule->judge(seen, std::chrono::duration_cast<monitor_time>(now));
    const auto was_alarmed =
      std::exchange(state.is_alarmed, !found.reason.empty());
    if (state.is_alarmed && !was_alarmed)
      self->send(state.user,
                 monitor_alert{state.request.number, std::move(found.reason),
                               std::move(found.infos)});
    look_again(self, found.next);
  }

  static void note_failure(self_pointer self, const caf::error& why) {
    auto& state = self->state;
    if (std::exchange(state.is_waiting_for_first, false)) {
      refuse(self, why);
      return;
    }
    // It has ended: whoever had it watched will stop us.
    if (status_of(why) == status::not_found)
      return;
    if (++state.failed == defaults::monitor_failed_looks)
      log(state, "cannot look: " + reason_of(why));
    look_again(self, state.rule->interval());
  }

  static void look_again(self_pointer self, caf::timespan delay) {
    self->delayed_send(timed_monitor_actor{self}, delay, deadline{});
  }

  static void log(const state_type& state, const std::string& what) {
    if (state.options.log)
      state.options.log(severity::warning, "a monitor of "
                                             + to_string(state.request.proc)
                                             + " " + what);
  }
};

} // namespace troupe
