#include "actors/monitors/reaction_plan.hpp"

#include "actors/monitors/monitor_rules.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// Prints the stacks of all threads of $TROUPE_MONITOR_PID with what there is.
constexpr auto stack_command =
  "if command -v eu-stack >/dev/null 2>&1; then\n"
  "  exec eu-stack -p \"$TROUPE_MONITOR_PID\"\n"
  "elif command -v gdb >/dev/null 2>&1; then\n"
  "  exec gdb -p \"$TROUPE_MONITOR_PID\" -nx -batch"
  " -ex 'thread apply all backtrace'\n"
  "fi\n"
  "echo 'neither eu-stack nor gdb is installed on this node' >&2\n"
  "exit 127\n";

run_command command_for(const react_to_alert& alert, std::string text) {
  auto result = run_command{};
  result.argv = {"/bin/sh", "-c", std::move(text)};
  result.env = monitor_environment(alert);
  result.limit = defaults::reaction_command_time;
  return result;
}

/// The requester of what is done to the process.
requester actor_of(const react_to_alert& alert, const reaction_place& place) {
  if (!alert.is_policy_of_site)
    return alert.who;
  auto result = requester{};
  result.proc = place.server;
  result.creds = place.owner;
  result.role = peer_role::tool_with_identity;
  return result;
}

control_of_process control(const react_to_alert& alert,
                           const reaction_place& place, proc_id target,
                           std::string_view key, value val) {
  auto result = control_of_process{actor_of(alert, place), {}};
  result.request.targets = {std::move(target)};
  result.request.directives = {{std::string{key}, 0, std::move(val)}};
  return result;
}

/// One line of text: what comes from outside may hold anything.
std::string as_line(std::string text) {
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = ' ';
  return text;
}

log_entry mail(const react_to_alert& alert, const reaction_place& place,
               std::string to) {
  auto result = log_entry{};
  result.channel = log_channel::email;
  result.envelope.to = std::move(to);
  result.envelope.subject = as_line("alert: " + to_string(alert.proc) + " on "
                                    + place.hostname + ", " + alert.kind);
  result.text = sentence_of(alert) + "\n\nnode: " + place.hostname
                + "\nprocess: " + to_string(alert.proc)
                + "\npid: " + std::to_string(alert.pid) + '\n';
  if (!alert.file.empty())
    result.text += "file: " + alert.file + '\n';
  return result;
}

} // namespace

caf::expected<reaction_step> plan_reaction(const std::string& text,
                                           const react_to_alert& alert,
                                           const reaction_place& place) {
  const auto parsed = parse_reaction(text);
  if (!parsed)
    return parsed.error();
  const auto step = [](auto x) {
    return caf::expected<reaction_step>{reaction_step{std::move(x)}};
  };
  switch (parsed->kind) {
    case reaction_kind::log:
      return step(log_line{sentence_of(alert)});
    case reaction_kind::stack:
      if (alert.pid == 0)
        return make_error(status::not_found,
                          "the process does not run on this node");
      return step(take_stack{command_for(alert, stack_command)});
    case reaction_kind::signal:
      return step(control(alert, place, alert.proc, attr::job_ctrl_signal,
                          value::integer(parsed->signal)));
    case reaction_kind::kill:
      return step(control(alert, place, alert.proc, attr::job_ctrl_kill,
                          value::boolean(true)));
    case reaction_kind::restart:
      return step(control(alert, place, {alert.proc.nspace, rank_wildcard},
                          attr::job_ctrl_restart, value::string(parsed->text)));
    case reaction_kind::command:
      if (!alert.is_policy_of_site
          && !may_run_commands(alert.who, place.owner.uid))
        return make_error(status::no_permissions,
                          "commands run as the user of the daemon, who is "
                          "another one");
      return step(command_for(alert, parsed->text));
    case reaction_kind::mail:
      return step(mail(alert, place, parsed->text));
    case reaction_kind::event:
      break;
  }
  return step(std::monostate{});
}

std::string sentence_of(const react_to_alert& alert) {
  auto result = "monitor " + alert.kind;
  if (!alert.id.empty())
    result += " \"" + alert.id + "\"";
  result += " of " + to_string(alert.proc) + ": " + alert.reason;
  if (!alert.file.empty())
    result += " (" + alert.file + ")";
  return as_line(std::move(result));
}

} // namespace troupe
