#include "actors/monitors/monitor_kinds.hpp"

#include "actors/monitors/monitor_rules.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "base/journal.hpp"
#include "config/defaults.hpp"
#include "messages/actors.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace troupe {

namespace defaults {

/// How often a monitor looks again that has failed to look.
inline constexpr size_t monitor_failed_looks = 5;

/// How long whoever looks for a monitor of a named kind may take, beyond the
/// time of a command.
inline constexpr auto monitor_look_time = std::chrono::seconds{30};

} // namespace defaults

namespace {

/// How a TIMED MONITOR works.
template <class Rule, class Means>
struct timed_monitor_options {
  /// Reads the settings.
  std::function<caf::expected<Rule>(const start_monitor&)> make;

  /// Gives who looks.
  std::function<Means(const start_monitor&)> find_means;

  /// Whether the request for the monitor is answered once the first look has
  /// shown that it can work; otherwise before.
  bool looks_first = true;

  /// Who knows the processes of the node, is asked before; null: any process
  /// can be watched.
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
    bool is_started = false;
    bool is_waiting_for_first = false;

    /// Looks that failed since one did not.
    size_t failed = 0;
    std::shared_ptr<monitor_looks> looks;
  };

  using options_type = timed_monitor_options<Rule, Means>;
  using self_pointer = timed_monitor_actor::stateful_pointer<state_type>;

  static made_monitor spawn(caf::actor_system& sys, options_type options) {
    auto looks = std::make_shared<monitor_looks>();
    return {sys.spawn(&timed_monitor::behavior, std::move(options), looks),
            looks};
  }

private:
  static timed_monitor_actor::behavior_type
  behavior(self_pointer self, options_type options,
           std::shared_ptr<monitor_looks> looks) {
    self->state.options = std::move(options);
    self->state.looks = std::move(looks);
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
    if (state.is_started)
      return make_error(status::err_exists, "the monitor runs already");
    if (auto rule = state.options.make(request); !rule)
      return rule.error();
    state.request = std::move(request);
    state.user = std::move(user);
    auto reply = self->template make_response_promise<ack>();
    state.reply = reply;
    state.is_started = true;
    if (!state.options.presence) {
      settle(self);
      return reply;
    }
    self
      ->request(state.options.presence, state.options.limit,
                probe_process{state.request.proc, state.request.pid})
      .then(
        [self](const process_probe& seen) {
          self->state.request.pid = seen.pid;
          settle(self);
        },
        [self](const caf::error& why) {
          // Whoever has itself watched is there.
          if (self->state.request.proc == self->state.request.who.proc)
            settle(self);
          else
            refuse(self, why);
        });
    return reply;
  }

  /// Where the process is has been found out, if anybody knows.
  static void settle(self_pointer self) {
    auto& state = self->state;
    auto rule = state.options.make(state.request);
    if (!rule) {
      refuse(self, rule.error());
      return;
    }
    state.rule.emplace(std::move(*rule));
    state.means = state.options.find_means(state.request);
    state.is_waiting_for_first = state.options.looks_first;
    if (!state.options.looks_first)
      state.reply.deliver(ack{});
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
    state.looks->last = now;
    const auto was_alarmed =
      std::exchange(state.looks->is_alarmed, !found.reason.empty());
    if (state.looks->is_alarmed && !was_alarmed)
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
    self->state.looks->next = self->clock().now().time_since_epoch() + delay;
    self->delayed_send(timed_monitor_actor{self}, delay, deadline{});
  }

  static void log(const state_type& state, const std::string& what) {
    if (state.options.log)
      state.options.log(severity::warning, "a monitor of "
                                             + to_string(state.request.proc)
                                             + " " + what);
  }
};

constexpr size_t longest_name = 64;

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= longest_name
         && std::all_of(text.begin(), text.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                     || (c >= '0' && c <= '9') || c == '_' || c == '-'
                     || c == '.';
            });
}

/// Whoever has written a maker: it harms its own monitors only.
caf::expected<made_monitor> made_by(const monitor_kinds::maker& make,
                                    const std::string& name) {
  auto why = std::string{"has made none"};
  try {
    if (auto made = make(); made.actor)
      return made;
  } catch (const std::exception& x) {
    why = x.what();
  } catch (...) {
    why = "has thrown an exception";
  }
  return make_error(status::error, "the monitor kind " + name + ": " + why);
}

template <class Rule>
void add_probing(monitor_kinds& kinds, caf::actor_system& sys,
                 const monitor_means& means) {
  using monitor = timed_monitor<Rule, process_probe_actor>;
  kinds.add(Rule::kind, [&sys, probe = means.probe, log = means.log] {
    auto options = typename monitor::options_type{};
    options.make = Rule::make;
    options.find_means = [probe](const start_monitor&) { return probe; };
    options.log = log;
    return monitor::spawn(sys, std::move(options));
  });
}

caf::expected<command_rule> make_command(const start_monitor& request,
                                         uint32_t daemon_uid) {
  if (!may_run_commands(request.who, daemon_uid))
    return make_error(
      status::no_permissions,
      "monitor command: commands run as the user of the "
      "daemon, who is another one; use a kind without commands");
  return command_rule::make(request);
}

} // namespace

caf::error monitor_kinds::add(const std::string& name, maker make) {
  if (!is_name(name) || !make)
    return make_error(
      status::bad_param,
      "a kind of monitor is named by at most " + std::to_string(longest_name)
        + " letters, digits, \"_\", \"-\" and \".\"; choose such a name");
  if (makers_.size() >= defaults::monitor_kinds)
    return make_error(status::out_of_resource,
                      "the node knows " + std::to_string(makers_.size())
                        + " kinds of monitors already");
  if (!makers_.emplace(name, std::move(make)).second)
    return make_error(status::exists, "there is a kind of monitor " + name
                                        + " already: name it otherwise");
  return caf::none;
}

caf::expected<made_monitor> monitor_kinds::make(const std::string& name) const {
  const auto i = makers_.find(name);
  if (i != makers_.end())
    return made_by(i->second, name);
  auto known = std::string{};
  for (const auto& x : names())
    known += (known.empty() ? "" : ", ") + x;
  return make_error(
    status::not_supported,
    "there is no kind of monitor \"" + name.substr(0, longest_name)
      + "\" on this node; there are: " + (known.empty() ? "none" : known));
}

std::vector<std::string> monitor_kinds::names() const {
  auto result = std::vector<std::string>{};
  for (const auto& [name, make] : makers_)
    result.push_back(name);
  return result;
}

void add_own_kinds(monitor_kinds& kinds, caf::actor_system& sys,
                   const monitor_means& means) {
  add_probing<cpu_progress_rule>(kinds, sys, means);
  add_probing<memory_limit_rule>(kinds, sys, means);
  add_probing<output_silence_rule>(kinds, sys, means);
  using monitor = timed_monitor<command_rule, command_runner_actor>;
  kinds.add(command_rule::kind, [&sys, commands = means.commands,
                                 probe = means.probe, log = means.log,
                                 uid = means.daemon_uid] {
    auto options = monitor::options_type{};
    options.make = [uid](const auto& x) { return make_command(x, uid); };
    options.find_means = [commands](const start_monitor&) { return commands; };
    options.looks_first = false;
    options.presence = probe;
    options.limit = defaults::command_time_max + defaults::monitor_look_time;
    options.log = log;
    return monitor::spawn(sys, std::move(options));
  });
}

caf::error add_plugin_kind(monitor_kinds& kinds, caf::actor_system& sys,
                           const std::string& name, caf::timespan interval,
                           plugin_maker make, process_probe_actor presence,
                           journal log) {
  using monitor = timed_monitor<plugin_rule, monitor_plugin_actor>;
  return kinds.add(name,
                   [&sys, name, interval, make = std::move(make),
                    presence = std::move(presence), log = std::move(log)] {
                     auto options = monitor::options_type{};
                     options.make = [name, interval](const auto& x) {
                       return plugin_rule::make(name, interval, x);
                     };
                     options.find_means = make;
                     options.presence = presence;
                     options.log = log;
                     return monitor::spawn(sys, std::move(options));
                   });
}

} // namespace troupe
