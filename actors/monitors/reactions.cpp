#include "actors/monitors/reactions.hpp"

#include "actors/monitors/monitor_rules.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

namespace troupe {

namespace defaults {

/// How long whoever carries out a reaction to an alert may take.
inline constexpr auto reaction_time = std::chrono::seconds{60};

} // namespace defaults

const char* const stack_command =
  "if command -v eu-stack >/dev/null 2>&1; then\n"
  "  exec eu-stack -p \"$TROUPE_MONITOR_PID\"\n"
  "elif command -v gdb >/dev/null 2>&1; then\n"
  "  exec gdb -p \"$TROUPE_MONITOR_PID\" -nx -batch"
  " -ex 'thread apply all backtrace'\n"
  "fi\n"
  "echo 'neither eu-stack nor gdb is installed on this node' >&2\n"
  "exit 127\n";

namespace {

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
  result.request.directives = {make_info(key, std::move(val))};
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

struct reactions_state {
  static inline const char* name = "reactions";

  reactions_options options;
  size_t in_flight = 0;
};

TROUPE_SELF_POINTER(reactions_actor, reactions_state);

/// An alert, and which reaction is next.
struct course {
  react_to_alert alert;
  size_t next = 0;
};

using course_pointer = std::shared_ptr<course>;

void go_on(self_pointer self, const course_pointer& x);

void log(self_pointer self, severity how, const std::string& line) {
  if (const auto& to = self->state.options.log)
    to(how, line);
}

/// Tells how a reaction went, and goes on with the next.
void settle(self_pointer self, const course_pointer& x,
            const std::string& trouble) {
  const auto& what = x->alert.reactions[x->next];
  if (trouble.empty())
    log(self, severity::info, sentence_of(x->alert) + "; done: " + what);
  else
    log(self, severity::warning,
        sentence_of(x->alert) + "; cannot do \"" + what + "\": " + trouble);
  ++x->next;
  go_on(self, x);
}

/// Settles with what went wrong.
auto failure(self_pointer self, const course_pointer& x) {
  return [self, x](const caf::error& why) { settle(self, x, reason_of(why)); };
}

std::string trouble_of(const command_result& x) {
  auto result = std::string{};
  if (x.timed_out)
    result = "it was not over in time and was killed";
  else if (x.signal != 0)
    result = "signal " + std::to_string(x.signal) + " ended it";
  else if (x.exit_code != 0)
    result = "it failed with status " + std::to_string(x.exit_code);
  if (!result.empty() && !x.output.empty())
    result += ": " + x.output.substr(0, x.output.find('\n'));
  return result;
}

void show_stack(self_pointer self, const course_pointer& x,
                const command_result& got) {
  auto entry = log_entry{};
  entry.text = "stack of " + to_string(x->alert.proc) + ", pid "
               + std::to_string(x->alert.pid) + ", " + sentence_of(x->alert)
               + "\n" + got.output + (got.is_truncated ? "\n(more)\n" : "\n");
  self
    ->request(self->state.options.logs, defaults::reaction_time,
              std::move(entry))
    .then([self, x](const ack&) { settle(self, x, {}); }, failure(self, x));
}

/// Does one step.
struct executor {
  self_pointer self;
  const course_pointer& x;

  void operator()(std::monostate) const {
    settle(self, x, {});
  }

  void operator()(log_sentence& line) const {
    log(self, severity::warning, line.text);
    settle(self, x, {});
  }

  void operator()(take_stack& step) const {
    run(step.command, [self = self, x = x](const command_result& got) {
      if (const auto trouble = trouble_of(got); !trouble.empty())
        settle(self, x, trouble);
      else
        show_stack(self, x, got);
    });
  }

  void operator()(run_command& step) const {
    run(step, [self = self, x = x](const command_result& got) {
      settle(self, x, trouble_of(got));
    });
  }

  void operator()(control_of_process& step) const {
    self
      ->request(self->state.options.host, defaults::reaction_time,
                std::move(step.who), std::move(step.request))
      .then([self = self, x = x](const info_result&) { settle(self, x, {}); },
            failure(self, x));
  }

  void operator()(log_entry& step) const {
    self
      ->request(self->state.options.logs, defaults::reaction_time,
                std::move(step))
      .then([self = self, x = x](const ack&) { settle(self, x, {}); },
            failure(self, x));
  }

private:
  template <class F>
  void run(run_command& command, F then) const {
    const auto limit = command.limit + defaults::reaction_time;
    self->request(self->state.options.commands, limit, std::move(command))
      .then(std::move(then), failure(self, x));
  }
};

void go_on(self_pointer self, const course_pointer& x) {
  auto& state = self->state;
  if (x->next >= x->alert.reactions.size()) {
    --state.in_flight;
    return;
  }
  auto step =
    plan_reaction(x->alert.reactions[x->next], x->alert, state.options.place);
  if (!step)
    settle(self, x, reason_of(step.error()));
  else
    std::visit(executor{self, x}, *step);
}

requester owner_of(const reactions_state& state) {
  auto result = requester{};
  result.proc = state.options.place.server;
  result.creds = state.options.place.owner;
  result.role = peer_role::tool_with_identity;
  return result;
}

/// What a job says on its alerts.
std::vector<std::string> policy_in(const get_result& found) {
  auto infos = std::vector<info>{};
  for (const auto& block : found.blocks)
    for (const auto& entry : block.entries)
      if (entry.key == monitor_reaction_key)
        infos.push_back({entry.key, 0, entry.val});
  return reactions_in(infos);
}

/// Finds out which number the process has, and begins.
void choose(self_pointer self, const course_pointer& x,
            std::vector<std::string> of_job) {
  auto& state = self->state;
  auto chosen = choose_reactions(std::move(x->alert.reactions),
                                 std::move(of_job), state.options.of_site);
  x->alert.reactions = std::move(chosen.reactions);
  x->alert.is_policy_of_site = chosen.is_policy_of_site;
  if (x->alert.reactions.empty() || !state.options.probe) {
    go_on(self, x);
    return;
  }
  self
    ->request(state.options.probe, defaults::reaction_time,
              probe_process{x->alert.proc, x->alert.pid})
    .then(
      [self, x](const process_probe& seen) {
        x->alert.pid = seen.pid;
        go_on(self, x);
      },
      [self, x](const caf::error&) {
        // It has ended: its number may be somebody else's by now.
        x->alert.pid = 0;
        go_on(self, x);
      });
}

void begin(self_pointer self, react_to_alert& alert) {
  auto& state = self->state;
  if (state.in_flight >= defaults::reactions_in_flight) {
    log(self, severity::warning,
        sentence_of(alert) + "; nothing is done about it: "
          + std::to_string(state.in_flight) + " alerts are being dealt with");
    return;
  }
  ++state.in_flight;
  const auto x = std::make_shared<course>(course{std::move(alert), 0});
  const auto server =
    state.options.server ? state.options.server() : server_actor{};
  if (!x->alert.reactions.empty() || !server) {
    choose(self, x, {});
    return;
  }
  auto question = get_request{};
  question.target = {x->alert.proc.nspace, rank_wildcard};
  question.directives = {make_info(attr::optional, value::boolean(true))};
  question.key = std::string{monitor_reaction_key};
  self
    ->request(server, defaults::reaction_time, owner_of(state),
              std::move(question))
    .then(
      [self, x](const get_result& found) { choose(self, x, policy_in(found)); },
      [self, x](const caf::error&) { choose(self, x, {}); });
}

reactions_actor::behavior_type behavior(self_pointer self,
                                        reactions_options options) {
  self->state.options = std::move(options);
  return {[self](react_to_alert& alert) { begin(self, alert); }};
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
      return step(log_sentence{sentence_of(alert)});
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
                          "another one; ask for the event and act on it");
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

reactions_actor spawn_reactions(caf::actor_system& sys,
                                reactions_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
