#include "tools/log_command.hpp"

#include "actors/mesh/host/log_desk.hpp"
#include "adapters/log/local_time.hpp"
#include "base/escape.hpp"
#include "base/make_info.hpp"
#include "messages/control.hpp"
#include "messages/query.hpp"
#include "messages/status.hpp"
#include "tools/command_line.hpp"
#include "tools/printing.hpp"
#include "tools/report.hpp"
#include "tools/tool_session.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto usage = R"(Usage: troupe log COMMAND [options]

Commands:
  show               show the level of each subject, on all nodes of a DVM
  set LEVELS...      set levels while it runs: LEVEL or SUBJECT=LEVEL

LEVEL is debug, info, warning or error. troupe log show lists the subjects.
)";

/// How long a DVM may take to answer.
constexpr auto answer_time = 30s;

enum : int { done = 0, failed = 1, partly = 3 };

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe " + command, reason);
  return failed;
}

/// A member that is a text; empty: there is none.
std::string text_in(const json& object, const char* key) {
  if (!object.is_object())
    return {};
  const auto i = object.find(key);
  return i != object.end() && i->is_string() ? i->get<std::string>()
                                             : std::string{};
}

/// A member that is a number; 0: there is none.
int64_t number_in(const json& object, const char* key) {
  if (!object.is_object())
    return 0;
  const auto i = object.find(key);
  return i != object.end() && i->is_number_integer() ? i->get<int64_t>() : 0;
}

/// The objects of a list that is a member.
std::vector<json> list_in(const json& object, const char* key) {
  auto result = std::vector<json>{};
  if (!object.is_object())
    return result;
  const auto i = object.find(key);
  if (i != object.end() && i->is_array())
    for (const auto& x : *i)
      if (x.is_object())
        result.push_back(x);
  return result;
}

std::string shown(const json& object, const char* key) {
  const auto result = text_in(object, key);
  return result.empty() ? "-" : escape_control_characters(result);
}

/// Asks a DVM.
/// @param out Gets the nodes' answers.
/// @returns the exit status if there are none.
template <class Request>
std::optional<int> ask_nodes(const std::string& command, const std::string& dvm,
                             const Request& what, std::string_view key,
                             json& out) {
  auto session = tool_session::open(dvm, false, {});
  if (!session)
    return fail(command, reason_of(session.error()));
  const auto got = (**session).ask(what, answer_time);
  if (!got)
    return fail(command, "the DVM refuses, or does not answer: "
                           + reason_of(got.error()));
  const auto* result = std::get_if<info_result>(&*got);
  const auto* found = result != nullptr ? find(result->infos, key) : nullptr;
  if (found == nullptr)
    return fail(command, "the server that answers does not know this; is it a "
                         "DVM of Troupe?");
  out = to_json(*found);
  return std::nullopt;
}

query_request question(std::string_view key, std::vector<info> qualifiers) {
  auto result = query_request{};
  auto& x = result.queries.emplace_back();
  x.keys = {std::string{key}};
  x.qualifiers = std::move(qualifiers);
  return result;
}

/// Says which nodes have not answered.
/// @returns whether there are some.
bool tell_troubles(const std::string& command, const json& nodes) {
  auto result = false;
  for (const auto& x : nodes)
    if (const auto why = text_in(x, "trouble"); !why.empty()) {
      result = true;
      std::cerr << notice("troupe " + command,
                          "node " + std::to_string(number_in(x, "rank"))
                            + " does not answer: " + why);
    }
  return result;
}

/// Says which nodes have more steps than they tell.
/// @returns how many there are of those.
int64_t tell_omitted(const json& nodes) {
  auto result = int64_t{0};
  for (const auto& x : nodes)
    if (const auto count = number_in(x, "omitted"); count > 0) {
      result += count;
      std::cerr << notice("troupe trace",
                          "node " + std::to_string(number_in(x, "rank"))
                            + " leaves out " + std::to_string(count)
                            + " steps in the middle");
    }
  return result;
}

// -- troupe log --

int show_levels(std::vector<std::string> args) {
  auto dvm = std::string{};
  auto as_json = false;
  auto cli = CLI::App{"Shows the level of each subject in the logs of a DVM's "
                      "nodes: what matters less is not logged.",
                      "troupe log show"};
  add_dvm_option(cli, dvm);
  cli.add_flag("--json", as_json, "Print JSON");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  auto nodes = json{};
  if (const auto status = ask_nodes(
        "log show", dvm, question(log_levels_key, {}), log_levels_key, nodes))
    return *status;
  const int status = tell_troubles("log show", nodes) ? partly : done;
  std::cout << (as_json ? json_document("nodes", nodes)
                        : levels_to_text(nodes));
  return status;
}

int set_levels(std::vector<std::string> args) {
  auto dvm = std::string{};
  auto words = std::vector<std::string>{};
  auto as_json = false;
  auto cli =
    CLI::App{"Sets what the logs of a DVM's nodes have, until they "
             "end. Nodes that join later begin as the DVM was started.",
             "troupe log set"};
  cli
    .add_option("LEVELS", words,
                "LEVEL for all subjects, or SUBJECT=LEVEL; several are taken "
                "from left to right, and may have commas between")
    ->required();
  add_dvm_option(cli, dvm);
  cli.add_flag("--json", as_json, "Print JSON: the levels of all nodes");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  auto all = std::string{};
  for (const auto& x : words)
    all += (all.empty() ? "" : ",") + x;
  if (const auto why = log_levels{}.set(all))
    return complain("troupe log set", reason_of(why));
  auto request = job_control_request{};
  request.directives = {make_info(log_levels_key, value::string(all))};
  auto nodes = json{};
  if (const auto status =
        ask_nodes("log set", dvm, request, log_levels_key, nodes))
    return *status;
  const int status = tell_troubles("log set", nodes) ? partly : done;
  if (as_json)
    std::cout << json_document("nodes", nodes);
  return status;
}

// -- troupe trace --

int show_steps(const std::string& dvm, const std::string& id, bool as_json) {
  auto nodes = json{};
  const auto what =
    question(trace_key, {make_info(trace_name_key, value::string(id))});
  if (const auto status = ask_nodes("trace", dvm, what, trace_key, nodes))
    return *status;
  tell_troubles("trace", nodes);
  const auto steps = steps_of(nodes);
  if (steps.empty())
    return fail("trace", "no node remembers " + id
                           + ": each keeps its latest steps only; troupe trace "
                             "lists what there is");
  const auto omitted = tell_omitted(nodes);
  auto result = json{{"id", id}, {"steps", steps}};
  if (omitted > 0)
    result["omitted"] = omitted;
  std::cout << (as_json ? json_document(std::move(result))
                        : steps_to_text(id, steps));
  return done;
}

int show_latest(const std::string& dvm, uint32_t most, bool as_json) {
  auto nodes = json{};
  const auto what =
    question(trace_key, {make_info(trace_count_key, value::uint32(most))});
  if (const auto status = ask_nodes("trace", dvm, what, trace_key, nodes))
    return *status;
  tell_troubles("trace", nodes);
  auto traces = latest_of(nodes);
  if (traces.size() > most)
    traces.erase(traces.begin() + most, traces.end());
  std::cout << (as_json ? json_document("traces", traces)
                        : latest_to_text(traces));
  return done;
}

double milliseconds_of(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e6;
}

} // namespace

std::string levels_to_text(const json& nodes) {
  auto rows = std::vector<std::vector<std::string>>{{"SUBJECT"}};
  for (size_t i = 0; i < log_subject_count; ++i)
    rows.push_back({std::string{text_of(static_cast<log_subject>(i))}});
  for (const auto& node : nodes) {
    if (!node.is_object() || !node.contains("levels"))
      continue;
    rows.front().push_back(shown(node, "name"));
    for (size_t i = 1; i < rows.size(); ++i)
      rows[i].push_back(shown(node["levels"], rows[i].front().c_str()));
  }
  return align(rows);
}

json steps_of(const json& nodes) {
  auto result = std::vector<json>{};
  for (const auto& node : nodes)
    for (auto& step : list_in(node, "steps")) {
      step["where"] = number_in(node, "rank");
      step["host"] = text_in(node, "name");
      result.push_back(std::move(step));
    }
  std::stable_sort(result.begin(), result.end(),
                   [](const json& x, const json& y) {
                     return number_in(x, "at") < number_in(y, "at");
                   });
  return json(result);
}

std::string steps_to_text(const std::string& id, const json& steps) {
  const auto first = steps.empty() ? 0 : number_in(steps.front(), "at");
  const auto last = steps.empty() ? 0 : number_in(steps.back(), "at");
  auto rows = std::vector<std::vector<std::string>>{{"MS", "NODE", "STEP"}};
  for (const auto& x : steps)
    rows.push_back(
      {fmt::format("{:.3f}", milliseconds_of(number_in(x, "at") - first)),
       shown(x, "host"), shown(x, "text")});
  return fmt::format("{}, {}, {:.3f} ms\n", escape_control_characters(id),
                     local_time(first), milliseconds_of(last - first))
         + align(rows);
}

json latest_of(const json& nodes) {
  struct trace {
    json what;
    int64_t first = 0;
    int64_t last = 0;
    int64_t steps = 0;
    int64_t nodes = 0;
  };
  auto all = std::map<std::string, trace>{};
  for (const auto& node : nodes)
    for (auto& x : list_in(node, "latest")) {
      const auto id = text_in(x, "id");
      const auto first = number_in(x, "first");
      const auto last = number_in(x, "last");
      auto& to = all[id];
      to.first = to.nodes == 0 ? first : std::min(to.first, first);
      to.last = std::max(to.last, last);
      to.steps += number_in(x, "steps");
      ++to.nodes;
      // A failure is what counts.
      const auto status = text_in(x, "status");
      if (!status.empty()
          && (text_in(to.what, "status").empty() || status != "success"))
        to.what["status"] = status;
    }
  auto result = std::vector<json>{};
  for (auto& [id, x] : all) {
    auto item = json{{"id", id},
                     {"first", x.first},
                     {"last", x.last},
                     {"steps", x.steps},
                     {"nodes", x.nodes}};
    if (const auto status = text_in(x.what, "status"); !status.empty())
      item["status"] = status;
    result.push_back(std::move(item));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const json& x, const json& y) {
                     return number_in(x, "last") > number_in(y, "last");
                   });
  return json(result);
}

std::string latest_to_text(const json& traces) {
  auto rows = std::vector<std::vector<std::string>>{
    {"ID", "BEGAN", "MS", "NODES", "STEPS", "STATUS"}};
  for (const auto& x : traces)
    rows.push_back(
      {shown(x, "id"), local_time(number_in(x, "first")),
       fmt::format("{:.3f}", milliseconds_of(number_in(x, "last")
                                             - number_in(x, "first"))),
       std::to_string(number_in(x, "nodes")),
       std::to_string(number_in(x, "steps")), shown(x, "status")});
  return align(rows);
}

int log_command(std::vector<std::string> args) {
  const auto command = take_command(args);
  if (gives_help(command, usage))
    return done;
  if (command == "show")
    return show_levels(std::move(args));
  if (command == "set")
    return set_levels(std::move(args));
  return refuse_command("troupe log", command, usage);
}

int trace_command(std::vector<std::string> args) {
  auto dvm = std::string{};
  auto id = std::string{};
  auto most = uint32_t{20};
  auto as_json = false;
  auto cli = CLI::App{"Shows what has become of a fence or an event at all "
                      "nodes of a DVM, with times; without ID, the latest.",
                      "troupe trace"};
  cli.add_option("ID", id, "Such as fence:JOB#3 or event:JOB#7@2");
  add_dvm_option(cli, dvm);
  cli
    .add_option("--last", most, "How many of the latest are shown (default 20)")
    ->check(CLI::Range(1u, static_cast<uint32_t>(max_traces)));
  cli.add_flag("--json", as_json, "Print JSON");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  if (id.empty())
    return show_latest(dvm, most, as_json);
  if (const auto name = read_trace_id(id); !name)
    return complain("troupe trace", reason_of(name.error()));
  return show_steps(dvm, id, as_json);
}

} // namespace troupe
