#include "actors/monitors/kinds_of_monitors.hpp"

#include "actors/monitors/monitor_rules.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "actors/monitors/timed_monitor.hpp"

#include <utility>

namespace troupe {

namespace {

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
    return make_error(status::no_permissions,
                      "monitor command: commands run as the user of the "
                      "daemon, who is another one");
  return command_rule::make(request);
}

} // namespace

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
                           plugin_maker make, journal log) {
  using monitor = timed_monitor<plugin_rule, monitor_plugin_actor>;
  return kinds.add(
    name, [&sys, name, interval, make = std::move(make), log = std::move(log)] {
      auto options = monitor::options_type{};
      options.make = [name, interval](const auto& x) {
        return plugin_rule::make(name, interval, x);
      };
      options.find_means = make;
      options.log = log;
      return monitor::spawn(sys, std::move(options));
    });
}

} // namespace troupe
