#include "tools/completion.hpp"

#include "adapters/loop/read_write.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "base/log_levels.hpp"
#include "tools/help_page.hpp"
#include "tools/help_topics.hpp"
#include "tools/tool_session.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>
#include <thread>
#include <utility>

namespace troupe {

namespace {

using nlohmann::json;
using words = std::vector<std::string>;

/// How long somebody waits who has pressed Tab.
constexpr auto patience = std::chrono::seconds{3};

/// Signals of which a name is offered: those without real-time.
constexpr int most_signals = 31;

/// Finds the candidates of one command line.
class completer {
public:
  completer(const words& line, const completion_sources& from)
    : line_(line), from_(from) {
    // nop
  }

  words find();

private:
  words commands() const;
  words of_help() const;
  words values_of(const std::string& option);
  words arguments();
  words jobs_or_processes();
  words last_of_list(const words& items) const;
  words names(const words& command, const char* list, const char* member);
  bool is_for_program() const;
  words levels() const;

  const std::string& current() const {
    return line_.back();
  }

  /// The option whose value the current word is; empty: none.
  std::string option_before() const {
    const auto& before = line_[line_.size() - 2];
    const auto* option = find_option(page_, before);
    return option != nullptr && option->takes_value ? before : std::string{};
  }

  const words& line_;
  const completion_sources& from_;

  /// The command, with its verb if it has any.
  words path_;
  help_page page_;
};

words completer::find() {
  if (line_.empty())
    return {};
  if (line_.size() == 1)
    return commands();
  if (line_.front() == "help")
    return of_help();
  path_ = {line_.front()};
  page_ = read_help(from_.output_of({line_.front(), "--help"}));
  if (!page_.commands.empty()) {
    if (line_.size() == 2)
      return page_.commands;
    path_.push_back(line_[1]);
    page_ = read_help(from_.output_of({line_[0], line_[1], "--help"}));
  }
  if (is_for_program())
    return {};
  const auto sign = current().find('=');
  if (current().compare(0, 2, "--") == 0 && sign != std::string::npos) {
    // `--dvm=n` is completed as a whole.
    auto result = words{};
    const auto option = current().substr(0, sign);
    for (const auto& x : values_of(option))
      result.push_back(option + "=" + x);
    return result;
  }
  if (const auto option = option_before(); !option.empty())
    return values_of(option);
  if (current().substr(0, 1) != "-")
    return arguments();
  auto result = words{};
  for (const auto& x : page_.options)
    result.insert(result.end(), x.names.begin(), x.names.end());
  return result;
}

words completer::commands() const {
  auto result = read_help(from_.output_of({"help"})).commands;
  result.emplace_back("help");
  return result;
}

words completer::of_help() const {
  if (line_.size() > 2)
    return read_help(from_.output_of({line_[1], "--help"})).commands;
  auto result = commands();
  result.insert(result.end(), from_.topics.begin(), from_.topics.end());
  return result;
}

/// Whether words belong to a program that is to run.
bool completer::is_for_program() const {
  if (path_.front() != "run")
    return false;
  for (size_t i = 1; i + 1 < line_.size(); ++i) {
    const auto& x = line_[i];
    if (x == "--" || x.empty() || x.front() != '-')
      return true;
    const auto* option = find_option(page_, x);
    // The value of --dvm may be left out; its name is one word, too.
    if (option != nullptr && option->takes_value)
      ++i;
  }
  return false;
}

/// The member of each item of the list that a command prints as JSON.
words completer::names(const words& command, const char* list,
                       const char* member) {
  auto asked = command;
  asked.emplace_back("--json");
  for (size_t i = 0; i + 1 < line_.size(); ++i)
    if (line_[i].compare(0, 6, "--dvm=") == 0)
      asked.push_back(line_[i]);
    else if (line_[i] == "--dvm" && i + 2 < line_.size())
      asked.push_back("--dvm=" + line_[i + 1]);
  const auto answer =
    json::parse(from_.output_of(asked), nullptr, false /* no exceptions */);
  auto result = words{};
  if (!answer.is_object() || !answer.contains(list) || !answer[list].is_array())
    return result;
  for (const auto& x : answer[list])
    if (x.is_object() && x.contains(member))
      result.push_back(x[member].is_string() ? x[member].get<std::string>()
                                             : x[member].dump());
  return result;
}

/// Jobs; behind a colon the ranks of one.
words completer::jobs_or_processes() {
  const auto colon = current().rfind(':');
  if (colon == std::string::npos)
    return names({"jobs"}, "jobs", "nspace");
  const auto job = current().substr(0, colon);
  const auto nspaces = names({"ps"}, "processes", "nspace");
  const auto ranks = names({"ps"}, "processes", "rank");
  auto result = words{};
  for (size_t i = 0; i < std::min(nspaces.size(), ranks.size()); ++i)
    if (nspaces[i] == job)
      result.push_back(job + ":" + ranks[i]);
  return result;
}

/// Items behind the last comma of the current word.
words completer::last_of_list(const words& items) const {
  const auto comma = current().rfind(',');
  if (comma == std::string::npos)
    return items;
  auto result = words{};
  for (const auto& x : items)
    result.push_back(current().substr(0, comma + 1) + x);
  return result;
}

words completer::values_of(const std::string& option) {
  if (option == "--dvm")
    return from_.dvms();
  if (option == "--proc" || option == "--affected" || option == "--to")
    return jobs_or_processes();
  if (option == "--nspace")
    return names({"jobs"}, "jobs", "nspace");
  if (option == "--host" || option == "-H")
    return last_of_list(names({"nodes"}, "nodes", "name"));
  const auto* found = find_option(page_, option);
  return found != nullptr ? found->choices : words{};
}

/// Levels for all subjects, or behind an equals sign for one.
words completer::levels() const {
  // npos and 1 are 0.
  const auto last = current().substr(current().rfind(',') + 1);
  const auto begin = last.substr(0, last.find('=') + 1);
  auto result = words{};
  for (const auto x :
       {severity::debug, severity::info, severity::warning, severity::error})
    result.push_back(begin + std::string{text_of(x)});
  for (size_t i = 0; i < log_subject_count && begin.empty(); ++i)
    result.push_back(std::string{text_of(static_cast<log_subject>(i))} + "=");
  return last_of_list(result);
}

words completer::arguments() {
  // Which of the arguments that are no options it is.
  auto place = size_t{0};
  for (size_t i = path_.size(); i + 1 < line_.size(); ++i) {
    const auto* option = find_option(page_, line_[i]);
    if (option != nullptr && option->takes_value)
      ++i;
    else if (line_[i].substr(0, 1) != "-")
      ++place;
  }
  const auto& all = page_.positionals;
  if (all.empty() || (place >= all.size() && !page_.repeats))
    return {};
  const auto& name = all[std::min(place, all.size() - 1)];
  if (name == "PROCESS" || name == "TARGET")
    return jobs_or_processes();
  if (name == "NUMBER")
    return names({"monitor", "list"}, "monitors", "troupe.monitor.number");
  if (name == "ID" && path_.front() == "group")
    return names({"group", "list"}, "groups", "id");
  if (name == "ID" && (path_.back() == "status" || path_.back() == "cancel"))
    return names({"ctl", "status"}, "requests", "id");
  if (name == "ID" && path_.front() == "trace")
    return names({"trace"}, "traces", "id");
  if (name == "LEVELS")
    return levels();
  auto result = words{};
  if (name == "SIGNAL")
    for (auto i = 1; i <= most_signals; ++i)
      if (const auto* text = ::sigabbrev_np(i))
        result.emplace_back(text);
  return result;
}

/// More than any help or list that is worth offering.
constexpr size_t most_output = size_t{4} << 20;

/// What `troupe WORDS` prints. A process of its own: some commands become another
/// program.
std::string output_of(const words& line) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {};
  const auto from = unique_fd{ends[0]};
  auto to = unique_fd{ends[1]};
  auto arguments = std::vector<char*>{const_cast<char*>("troupe")};
  for (const auto& x : line)
    arguments.push_back(const_cast<char*>(x.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0)
    return {};
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
  auto pid = pid_t{0};
  const auto failure = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr,
                                     arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  to.reset();
  if (failure != 0)
    return {};
  auto text = read_up_to(from.get(), most_output);
  auto status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return {};
  return text && status == 0 ? std::move(*text) : std::string{};
}

} // namespace

std::vector<std::string> candidates(const std::vector<std::string>& line,
                                    const completion_sources& from) {
  auto result = std::vector<std::string>{};
  auto seen = std::set<std::string>{};
  for (auto& x : completer{line, from}.find())
    if (x.compare(0, line.back().size(), line.back()) == 0
        && seen.insert(x).second)
      result.push_back(std::move(x));
  return result;
}

int complete(std::vector<std::string> args) {
  if (!args.empty() && args.front() == "--")
    args.erase(args.begin());
  std::thread{[] {
    std::this_thread::sleep_for(patience);
    std::_Exit(0);
  }}.detach();
  auto from = completion_sources{output_of, names_of_dvms, {}};
  for (const auto& x : help_topics())
    from.topics.emplace_back(x.name);
  for (const auto& x : candidates(args, from))
    std::cout << x << '\n';
  return 0;
}

} // namespace troupe
