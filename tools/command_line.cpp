#include "tools/command_line.hpp"

#include "tools/printing.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace troupe {

int complain(const std::string& who, const std::string& why) {
  std::cerr << notice(who, why);
  return usage_error;
}

void add_dvm_option(CLI::App& cli, std::string& x) {
  cli.add_option("--dvm", x,
                 "The DVM or launcher: its name, pid:N, file:PATH or URI "
                 "(default: your only one)");
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
    return complain(cli.get_name(), x.what());
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
