#include "tools/monitor_options.hpp"

#include "actors/monitors/reaction_policy.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/status.hpp"
#include "tools/event_text.hpp"
#include "tools/notice.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <utility>

namespace troupe {

namespace {

constexpr int usage_error = 2;

constexpr auto usage = R"(Usage: troupe monitor COMMAND [options]

Commands:
  add        watch a process
  list       show who is watched
  cancel     watch no longer

troupe monitor COMMAND --help tells about a command.
)";

/// What the options say, before it is read.
struct words {
  std::string kind;
  std::string proc;
  std::string id;
  std::string code;
  std::string range;
  std::vector<std::string> settings;
  std::vector<std::string> reactions;
  std::string interval;
  std::string drops;
  std::string dvm;
  uint64_t number = 0;
};

info make_info(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

void add_dvm(CLI::App& cli, words& x) {
  cli.add_option("--dvm", x.dvm,
                 "The DVM or launcher: its name, pid:N, file:PATH or URI "
                 "(default: your only one)");
}

void add_add(CLI::App& cli, words& x) {
  cli
    .add_option("KIND", x.kind,
                "What to watch: cpu_progress, memory_limit, output_silence, "
                "command, or the name of a plugin")
    ->required();
  cli.add_option("--proc", x.proc, "The process, NAMESPACE:RANK")->required();
  cli.add_option("--interval", x.interval, "Seconds between two looks");
  cli.add_option("--drops", x.drops,
                 "How many looks in a row may be missed (default 0)");
  cli
    .add_option("--set", x.settings,
                "Another setting of the kind, NAME=VALUE, such as limit=2G; "
                "may come again")
    ->allow_extra_args(false);
  cli
    .add_option("--reaction", x.reactions,
                "What is done on an alert beside the event: log, stack, "
                "signal:N, kill, restart:CHECKPOINT, command:TEXT, "
                "mail:ADDRESS; may come "
                "again")
    ->allow_extra_args(false);
  cli.add_option("--id", x.id, "A name for it, which its alerts bear");
  cli.add_option("--code", x.code,
                 "The code of its events (default "
                 "PROC_SENSOR_BOUND_EXCEEDED)");
  cli.add_option("--range", x.range,
                 "Who hears of them: local, namespace, session or global "
                 "(default namespace)");
}

caf::error read_settings(const words& x, std::vector<info>& to) {
  const auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty())
      to.push_back(make_info(key, value::string(text)));
  };
  add(monitor_interval_key, x.interval);
  add(monitor_drops_key, x.drops);
  add(attr::monitor_id, x.id);
  for (const auto& setting : x.settings) {
    const auto middle = setting.find('=');
    if (middle == 0 || middle == std::string::npos)
      return make_error(status::bad_param,
                        "--set takes NAME=VALUE, not " + setting);
    to.push_back(
      make_info(std::string{monitor_key_prefix} + setting.substr(0, middle),
                value::string(setting.substr(middle + 1))));
  }
  for (const auto& reaction : x.reactions) {
    if (const auto parsed = parse_reaction(reaction); !parsed)
      return parsed.error();
    add(monitor_reaction_key, reaction);
  }
  return {};
}

caf::expected<monitor_order> read_add(const words& x) {
  auto result = add_monitor{x.dvm, {}};
  auto& what = result.what;
  what.monitor = make_info(monitor_kind_key, value::string(x.kind));
  what.error_code = status::proc_sensor_bound_exceeded;
  if (!x.code.empty()) {
    const auto code = read_event_code(x.code);
    if (!code)
      return code.error();
    what.error_code = *code;
  }
  auto proc = read_proc(x.proc);
  if (!proc)
    return proc.error();
  if (proc->rank == rank_wildcard)
    return make_error(status::bad_param,
                      "--proc takes one process, NAMESPACE:RANK, not "
                        + x.proc);
  what.directives.push_back(
    make_info(attr::monitor_target_procs, value::procs({std::move(*proc)})));
  if (!x.range.empty()) {
    const auto range = read_event_range(x.range);
    if (!range)
      return range.error();
    what.directives.push_back(
      make_info(attr::range,
                value{data_type::data_range, static_cast<uint64_t>(*range)}));
  }
  if (auto why = read_settings(x, what.directives))
    return why;
  return monitor_order{std::move(result)};
}

caf::expected<monitor_order> read_cancel(const words& x) {
  auto result = cancel_monitor{x.dvm, {}};
  result.what.monitor = make_info(attr::monitor_cancel, value{});
  result.what.directives = {
    make_info(monitor_number_key, value::uint64(x.number))};
  if (!x.proc.empty()) {
    auto proc = read_proc(x.proc);
    if (!proc)
      return proc.error();
    result.what.directives.push_back(
      make_info(attr::monitor_target_procs, value::procs({std::move(*proc)})));
  }
  return monitor_order{std::move(result)};
}

int complain(const std::string& command, const std::string& why) {
  std::cerr << notice("troupe monitor " + command, why);
  return usage_error;
}

} // namespace

std::variant<monitor_order, int>
parse_monitor_options(std::vector<std::string> args) {
  const auto command = args.empty() ? std::string{} : args.front();
  if (command == "--help" || command == "-h" || command == "help") {
    std::cout << usage;
    return 0;
  }
  auto x = words{};
  auto cli = CLI::App{"", "troupe monitor " + command};
  auto read = read_cancel;
  if (command == "add") {
    cli.description("Has a process watched until it ends, or somebody cancels "
                    "that.");
    add_add(cli, x);
    read = read_add;
  } else if (command == "cancel") {
    cli.description("Ends a monitor.");
    cli.add_option("NUMBER", x.number, "Which, as `troupe monitor list` shows")
      ->required();
    cli.add_option("--proc", x.proc,
                   "Whom it watches, NAMESPACE:RANK, if several have that "
                   "number on different nodes");
  } else {
    std::cerr << notice("troupe monitor",
                        command.empty()
                          ? "a command is missing"
                          : "there is no command \"" + command + "\"")
              << '\n'
              << usage;
    return usage_error;
  }
  add_dvm(cli, x);
  args.erase(args.begin());
  std::reverse(args.begin(), args.end());
  try {
    cli.parse(std::move(args));
  } catch (const CLI::Success& result) {
    return cli.exit(result);
  } catch (const CLI::ParseError& result) {
    return complain(command, result.what());
  }
  auto order = read(x);
  if (!order)
    return complain(command, reason_of(order.error()));
  return std::move(*order);
}

} // namespace troupe
