#include "tools/command_line.hpp"

#include "tools/command_words.hpp"
#include "tools/printing.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace troupe {

namespace {

/// What is wrong with a command line, and what helps.
std::string explain(const CLI::App& cli, const CLI::ParseError& why) {
  const auto see = cli.get_name() + " --help";
  const auto left = cli.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&why) == nullptr || left.empty()) {
    const auto said = std::string{why.what()};
    return said.find(';') == std::string::npos ? said + "; see " + see : said;
  }
  const auto word = left.front().substr(0, left.front().find('='));
  if (word.empty() || word.front() != '-')
    return "\"" + left.front() + "\" is one argument too many; see " + see;
  auto names = std::vector<std::string>{};
  for (const auto* x : cli.get_options())
    for (const auto& name : x->get_lnames())
      names.push_back("--" + name);
  // Others have long names with one dash.
  const auto near =
    nearest_name(word.compare(0, 2, "--") == 0 ? word : "-" + word, names);
  return word + " is no option of " + cli.get_name() + "; "
         + (near ? "did you mean " + *near + "?" : "see " + see);
}

} // namespace

int complain(const std::string& who, const std::string& why) {
  std::cerr << notice(who, why);
  return usage_error;
}

void add_dvm_option(CLI::App& cli, std::string& x) {
  cli.add_option("--dvm", x,
                 "The DVM or launcher: its name, pid:N, file:PATH or URI "
                 "(default: your only one)");
}

void add_log_format(CLI::App& cli, log_format& x) {
  cli
    .add_option_function<std::string>(
      "--log-format",
      [&x](const std::string& word) { x = read_log_format(word).value_or(x); },
      "text (default; entries of the journal if standard error leads there), "
      "json: an object a line, or journald")
    ->check(CLI::IsMember({"text", "json", "journald"}));
  cli.add_flag_callback(
    "--log-json", [&x] { x = log_format::json; },
    "The same as --log-format json");
}

std::optional<int> parse_arguments(CLI::App& cli, std::vector<std::string> args,
                                   const std::function<void()>& then) {
  // CLI11 takes them from the end.
  std::reverse(args.begin(), args.end());
  try {
    cli.parse(std::move(args));
    if (then)
      then();
    return std::nullopt;
  } catch (const CLI::Success& x) {
    return cli.exit(x);
  } catch (const CLI::ParseError& x) {
    return complain(cli.get_name(), explain(cli, x));
  }
}

std::string take_command(std::vector<std::string>& args) {
  if (args.empty())
    return {};
  auto result = std::move(args.front());
  args.erase(args.begin());
  return result;
}

bool gives_help(const std::string& command, const char* usage) {
  if (command != "--help" && command != "-h" && command != "help")
    return false;
  std::cout << usage;
  return true;
}

int refuse_command(const char* verb, const std::string& command,
                   const char* usage) {
  std::cerr << notice(verb, command.empty()
                              ? "a command is missing"
                              : "there is no command \"" + command + "\"")
            << '\n'
            << usage;
  return usage_error;
}

} // namespace troupe
