#include "tools/monitor.hpp"

#include "actors/monitors/reaction_policy.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/denial.hpp"
#include "messages/monitor.hpp"
#include "messages/status.hpp"
#include "tools/ask.hpp"
#include "tools/command_line.hpp"
#include "tools/event_text.hpp"
#include "tools/printing.hpp"
#include "tools/tool_session.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

namespace troupe {

// -- the command line --------------------------------------------------------

namespace {

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
  bool non_default = false;
  bool json = false;
};

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
  cli.add_flag("--non-default", x.non_default,
               "Only for handlers of that code: the default handler of Open "
               "MPI ends its process");
  cli.add_flag("--json", x.json, "Print JSON");
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
  auto result = add_monitor{x.dvm, {}, x.json};
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
  if (x.non_default)
    what.directives.push_back(
      make_info(attr::event_non_default, value::boolean(true)));
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

} // namespace

std::variant<monitor_order, int>
parse_monitor_options(std::vector<std::string> args) {
  const auto command = take_command(args);
  if (gives_help(command, usage))
    return 0;
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
    return refuse_command("troupe monitor", command, usage);
  }
  add_dvm_option(cli, x.dvm);
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  auto order = read(x);
  if (!order)
    return complain(cli.get_name(), reason_of(order.error()));
  return std::move(*order);
}

// -- the command -------------------------------------------------------------

namespace {

/// How long a server may take to answer.
constexpr auto answer_time = std::chrono::seconds{30};

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe monitor " + command, reason);
  return 1;
}

/// What a refusal comes to, in words.
std::string words_of(const caf::error& why) {
  const auto code = to_string(status_of(why));
  const auto said = text(explanation_of(why), attr::event_text_message);
  return said ? code + " (" + *said + ")" : code;
}

/// Asks for something that is done or refused.
/// @param as_json Whether the number of what was added is printed as JSON.
int carry_out(const std::string& command, const std::string& dvm,
              const monitor_request& what, bool as_json = false) {
  auto session = tool_session::open(dvm, false, {});
  if (!session)
    return fail(command, reason_of(session.error()));
  const auto got = (**session).ask(what, answer_time);
  if (!got)
    return fail(command, words_of(got.error()));
  const auto* result = std::get_if<info_result>(&*got);
  if (command == "add" && result != nullptr)
    if (const auto which =
          number<uint64_t>(result->infos, monitor_number_key)) {
      auto shown = nlohmann::json::object();
      shown["number"] = *which;
      std::cout << (as_json ? json_document(std::move(shown))
                            : std::to_string(*which) + "\n");
    }
  return 0;
}

int run(const add_monitor& order) {
  return carry_out("add", order.dvm, order.what, order.json);
}

/// Finds out whom a monitor watches: numbers are those of a node.
/// @returns why that cannot be told.
caf::error find_watched(tool_session& to, monitor_request& what) {
  auto question = query_request{};
  question.queries.emplace_back().keys = {std::string{monitor_list_key}};
  const auto got = to.ask(question, answer_time);
  if (!got)
    return got.error();
  const auto* result = std::get_if<info_result>(&*got);
  const auto* list =
    result != nullptr ? find(result->infos, monitor_list_key) : nullptr;
  const auto wanted = number<uint64_t>(what.directives, monitor_number_key);
  auto found = std::vector<proc_id>{};
  if (list != nullptr)
    for (const auto& item : infos_of(*list)) {
      const auto entry = infos_of(item.val);
      const auto* proc = find(entry, attr::procid);
      if (number<uint64_t>(entry, monitor_number_key) == wanted
          && proc != nullptr && proc->proc() != nullptr)
        found.push_back(*proc->proc());
    }
  if (found.size() > 1)
    return make_error(status::bad_param,
                      "monitors of several nodes have that number: say whom it "
                      "watches by --proc");
  if (!found.empty())
    what.directives.push_back({std::string{attr::monitor_target_procs}, 0,
                               value::procs(std::move(found))});
  return {};
}

int run(cancel_monitor& order) {
  if (find(order.what.directives, attr::monitor_target_procs) == nullptr) {
    auto session = tool_session::open(order.dvm, false, {});
    if (!session)
      return fail("cancel", reason_of(session.error()));
    if (const auto why = find_watched(**session, order.what))
      return fail("cancel", words_of(why));
  }
  return carry_out("cancel", order.dvm, order.what);
}

} // namespace

int monitor(std::vector<std::string> args) {
  if (!args.empty() && args.front() == "list") {
    args.erase(args.begin());
    return ask(report_kind::monitors, "monitor list", std::move(args));
  }
  auto order = parse_monitor_options(std::move(args));
  if (const auto* status = std::get_if<int>(&order))
    return *status;
  return std::visit([](auto& x) { return run(x); },
                    std::get<monitor_order>(order));
}

} // namespace troupe
