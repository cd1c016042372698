#include "tools/group_options.hpp"

#include "messages/proc_id.hpp"
#include "tools/notice.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <utility>

namespace troupe {

namespace {

constexpr int usage_error = 2;

constexpr auto usage = R"(Usage: troupe group COMMAND [options]

Commands:
  list       show the groups of processes
  show       show a group: its members and their ranks, and whom it waits for
  watch      tell what becomes of groups, until interrupted

troupe group COMMAND --help tells about a command.
)";

struct command {
  const char* name;
  group_order::verb what;
  const char* description;
};

constexpr command commands[] = {
  {"list", group_order::verb::list,
   "Shows the groups that there are, on all nodes."},
  {"show", group_order::verb::show,
   "Shows the groups with a name: who is a member and of which rank, who "
   "leads, "
   "and whom a call waits for."},
  {"watch", group_order::verb::watch,
   "Prints a line for each change of a group. With an ID it ends when that "
   "group has ended. Asks the DVM again and again: what comes and goes in "
   "between is not seen."},
};

int complain(const std::string& command, const std::string& why) {
  std::cerr << notice("troupe group " + command, why);
  return usage_error;
}

} // namespace

std::variant<group_order, int>
parse_group_options(std::vector<std::string> args) {
  const auto name = args.empty() ? std::string{} : args.front();
  if (name == "--help" || name == "-h" || name == "help") {
    std::cout << usage;
    return 0;
  }
  const auto* found =
    std::find_if(std::begin(commands), std::end(commands),
                 [&](const command& x) { return name == x.name; });
  if (found == std::end(commands)) {
    std::cerr << notice("troupe group",
                        name.empty() ? "a command is missing"
                                     : "there is no command \"" + name + "\"")
              << '\n'
              << usage;
    return usage_error;
  }
  auto x = group_order{};
  x.what = found->what;
  auto seconds = 1.0;
  auto cli = CLI::App{found->description, "troupe group " + name};
  if (x.what != group_order::verb::list) {
    auto* id = cli.add_option("ID", x.id, "The name of the group");
    if (x.what == group_order::verb::show)
      id->required();
  }
  if (x.what == group_order::verb::watch)
    cli.add_option("--every", seconds,
                   "Seconds between two questions (default 1, at least 0.1)");
  cli.add_flag("--json", x.json,
               x.what == group_order::verb::watch
                 ? "Print a JSON object in each line"
                 : "Print JSON");
  cli.add_option("--dvm", x.dvm,
                 "The DVM or launcher: its name, pid:N, file:PATH or URI "
                 "(default: your only one)");
  args.erase(args.begin());
  std::reverse(args.begin(), args.end());
  try {
    cli.parse(std::move(args));
  } catch (const CLI::Success& result) {
    return cli.exit(result);
  } catch (const CLI::ParseError& result) {
    return complain(name, result.what());
  }
  if (x.id.size() > max_nspace_length)
    return complain(name, "no group has a name of more than "
                            + std::to_string(max_nspace_length) + " bytes");
  constexpr auto shortest =
    std::chrono::duration<double>{shortest_group_interval}.count();
  constexpr auto longest = 86400.0;
  if (!(seconds >= shortest && seconds <= longest))
    return complain(name, "--every takes 0.1 to 86400 seconds");
  x.interval =
    std::chrono::milliseconds{static_cast<int64_t>(seconds * 1000.0)};
  return x;
}

} // namespace troupe
