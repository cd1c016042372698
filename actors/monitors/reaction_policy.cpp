#include "actors/monitors/reaction_policy.hpp"

#include "base/make_info.hpp"
#include "base/may_act_for.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

constexpr int32_t last_signal = 64;

constexpr auto remedy = "a reaction is event, log, stack, signal:NUMBER, kill, "
                        "restart:CHECKPOINT, command:TEXT or mail:ADDRESS";

constexpr std::pair<std::string_view, int32_t> signals[] = {
  {"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"CONT", SIGCONT}, {"HUP", SIGHUP},
  {"INT", SIGINT},   {"KILL", SIGKILL}, {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV},
  {"STOP", SIGSTOP}, {"TERM", SIGTERM}, {"TSTP", SIGTSTP}, {"USR1", SIGUSR1},
  {"USR2", SIGUSR2}, {"XCPU", SIGXCPU}};

std::optional<int32_t> signal_of(std::string_view text) {
  auto number = int32_t{0};
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && rest == end && number > 0
      && number <= last_signal)
    return number;
  if (text.substr(0, 3) == "SIG")
    text.remove_prefix(3);
  for (const auto& [name, value] : signals)
    if (name == text)
      return value;
  return std::nullopt;
}

caf::error unusable(const std::string& text, const std::string& why) {
  constexpr size_t quoted = 64;
  return make_error(status::bad_param,
                    "reaction \"" + text.substr(0, quoted) + "\": " + why);
}

} // namespace

caf::expected<reaction> parse_reaction(const std::string& text) {
  if (text.size() > defaults::monitor_reaction_bytes)
    return unusable(text, "longer than "
                            + std::to_string(defaults::monitor_reaction_bytes)
                            + " bytes; put the command into a script");
  if (text.find('\0') != std::string::npos)
    return unusable(text, "holds a zero byte; remove it");
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  const auto rest =
    colon == std::string::npos ? std::string{} : text.substr(colon + 1);
  constexpr std::pair<std::string_view, reaction_kind> plain[] = {
    {"event", reaction_kind::event},
    {"log", reaction_kind::log},
    {"stack", reaction_kind::stack},
    {"kill", reaction_kind::kill}};
  for (const auto& [word, kind] : plain)
    if (text == word)
      return reaction{kind, 0, {}};
  if (name == "signal" && colon != std::string::npos) {
    if (const auto number = signal_of(rest))
      return reaction{reaction_kind::signal, *number, {}};
    return unusable(text, "no such signal; name one by its number, 1 to "
                            + std::to_string(last_signal)
                            + ", or as in signal:USR1");
  }
  if (name == "restart" && !rest.empty())
    return reaction{reaction_kind::restart, 0, rest};
  if (name == "command" && !rest.empty())
    return reaction{reaction_kind::command, 0, rest};
  if (name == "mail" && !rest.empty())
    return reaction{reaction_kind::mail, 0, rest};
  return unusable(text, remedy);
}

std::vector<std::string> reactions_in(const std::vector<info>& infos) {
  auto result = std::vector<std::string>{};
  for (const auto& x : infos) {
    if (x.key != monitor_reaction_key)
      continue;
    if (const auto* list = x.val.array()) {
      for (const auto& element : list->elements)
        result.push_back(element.text() ? *element.text() : std::string{});
    } else {
      // What is no text is refused as an empty one.
      result.push_back(x.val.text() ? *x.val.text() : std::string{});
    }
  }
  return result;
}

bool may_run_commands(const requester& who, uint32_t daemon_uid) {
  return may_act_for(who, daemon_uid);
}

bool may_watch(const requester& who, uint32_t target_uid) {
  return may_act_for(who, target_uid);
}

caf::error check_reactions(const std::vector<std::string>& reactions,
                           const requester& who, uint32_t daemon_uid) {
  if (reactions.size() > defaults::monitor_reactions)
    return make_error(
      status::out_of_resource,
      std::to_string(reactions.size()) + " reactions to one alert; at most "
        + std::to_string(defaults::monitor_reactions) + ": name fewer");
  for (const auto& text : reactions) {
    const auto x = parse_reaction(text);
    if (!x)
      return x.error();
    if (x->kind == reaction_kind::command && !may_run_commands(who, daemon_uid))
      return make_error(status::no_permissions,
                        "commands run as the user of the daemon, who is "
                        "another one: ask for the event and act on it");
  }
  return caf::none;
}

chosen_reactions choose_reactions(std::vector<std::string> own,
                                  std::vector<std::string> of_job,
                                  const std::vector<std::string>& of_site) {
  if (!own.empty())
    return {std::move(own), false};
  if (!of_job.empty())
    return {std::move(of_job), false};
  return {of_site, !of_site.empty()};
}

std::optional<info> job_policy(const std::vector<info>& job_infos) {
  auto texts = std::vector<value>{};
  for (auto& x : reactions_in(job_infos))
    texts.push_back(value::string(std::move(x)));
  if (texts.empty())
    return std::nullopt;
  return make_info(monitor_reaction_key,
                   value::array(data_type::string, std::move(texts)));
}

} // namespace troupe
