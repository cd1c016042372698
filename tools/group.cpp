#include "tools/group.hpp"

#include "actors/groups/group_report.hpp"
#include "base/escape.hpp"
#include "messages/attributes.hpp"
#include "messages/proc_id.hpp"
#include "tools/command_line.hpp"
#include "tools/printing.hpp"
#include "tools/report.hpp"
#include "tools/tool_session.hpp"

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

namespace troupe {

// -- the command line --------------------------------------------------------

namespace {

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

} // namespace

std::variant<group_order, int>
parse_group_options(std::vector<std::string> args) {
  const auto name = take_command(args);
  if (gives_help(name, usage))
    return 0;
  const auto* found =
    std::find_if(std::begin(commands), std::end(commands),
                 [&](const command& x) { return name == x.name; });
  if (found == std::end(commands))
    return refuse_command("troupe group", name, usage);
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
  add_dvm_option(cli, x.dvm);
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  if (x.id.size() > max_nspace_length)
    return complain(cli.get_name(),
                    "no group has a name of more than "
                      + std::to_string(max_nspace_length)
                      + " bytes; troupe group list shows those there are");
  constexpr auto shortest =
    std::chrono::duration<double>{shortest_group_interval}.count();
  constexpr auto longest = 86400.0;
  if (!(seconds >= shortest && seconds <= longest))
    return complain(cli.get_name(), "--every takes 0.1 to 86400 seconds");
  x.interval =
    std::chrono::milliseconds{static_cast<int64_t>(seconds * 1000.0)};
  return x;
}

// -- what is shown -----------------------------------------------------------

namespace {

using nlohmann::json;

/// Names in a table or a line: so many, then only how many more.
constexpr size_t names_shown = 4;

std::string text(const json& group, const char* key) {
  const auto i = group.find(key);
  return i != group.end() && i->is_string()
           ? escape_control_characters(i->get<std::string>())
           : std::string{};
}

uint64_t number(const json& group, const char* key) {
  const auto i = group.find(key);
  return i != group.end() && i->is_number_unsigned() ? i->get<uint64_t>() : 0;
}

std::vector<std::string> names(const json& group, const char* key) {
  auto result = std::vector<std::string>{};
  const auto i = group.find(key);
  if (i != group.end() && i->is_array())
    for (const auto& x : *i)
      if (x.is_string())
        result.push_back(escape_control_characters(x.get<std::string>()));
  return result;
}

std::string joined(const std::vector<std::string>& xs,
                   size_t most = names_shown) {
  auto result = std::string{};
  for (size_t i = 0; i < std::min(xs.size(), most); ++i)
    result += (i > 0 ? " " : "") + xs[i];
  if (xs.size() > most)
    result += fmt::format(" and {} more", xs.size() - most);
  return result;
}

std::string or_dash(const std::string& x) {
  return x.empty() ? "-" : x;
}

std::string count_of(const std::vector<std::string>& members) {
  return fmt::format("{} member{}", members.size(),
                     members.size() == 1 ? "" : "s");
}

std::string context_of(const json& group) {
  const auto i = group.find("context_id");
  return i != group.end() ? i->dump() : "-";
}

/// What tells groups of the same name apart.
using group_identity = std::tuple<std::string, uint64_t, uint64_t>;

std::map<group_identity, const json*> by_identity(const json& groups) {
  auto result = std::map<group_identity, const json*>{};
  if (groups.is_array())
    for (const auto& x : groups)
      if (x.is_object())
        result[{text(x, "id"), number(x, "participants"),
                number(x, "generation")}] = &x;
  return result;
}

/// Those of `xs` that are not among `ys`.
std::vector<std::string> without(const std::vector<std::string>& xs,
                                 const std::vector<std::string>& ys) {
  auto result = std::vector<std::string>{};
  for (const auto& x : xs)
    if (std::find(ys.begin(), ys.end(), x) == ys.end())
      result.push_back(x);
  return result;
}

std::string describe(const json& group) {
  const auto leaders = names(group, "leaders");
  const auto missing = names(group, "missing");
  auto result = fmt::format("{}, {}", text(group, "phase"),
                            count_of(names(group, "members")));
  if (context_of(group) != "-")
    result += ", context " + context_of(group);
  if (!leaders.empty())
    result += ", led by " + joined(leaders);
  if (!missing.empty())
    result += ", waits for " + joined(missing);
  return result;
}

std::string differences(const json& before, const json& now) {
  auto parts = std::vector<std::string>{};
  const auto add = [&](std::string x) { parts.push_back(std::move(x)); };
  if (text(before, "phase") != text(now, "phase"))
    add(text(now, "phase"));
  const auto old_members = names(before, "members");
  const auto members = names(now, "members");
  const auto gone = without(old_members, members);
  const auto come = without(members, old_members);
  if (!come.empty())
    add("new: " + joined(come));
  if (!gone.empty())
    add("gone: " + joined(gone));
  if (!come.empty() || !gone.empty())
    add(count_of(members));
  else if (members != old_members)
    add("other ranks");
  if (context_of(before) != context_of(now))
    add("context " + context_of(now));
  const auto leaders = names(now, "leaders");
  if (names(before, "leaders") != leaders)
    add(leaders.empty() ? "led by nobody" : "led by " + joined(leaders));
  const auto missing = names(now, "missing");
  if (names(before, "missing") != missing)
    add(missing.empty() ? "waits for nobody" : "waits for " + joined(missing));
  auto result = std::string{};
  for (const auto& x : parts)
    result += (result.empty() ? "" : ", ") + x;
  return result;
}

} // namespace

std::string group_table(const json& groups) {
  auto rows = std::vector<std::vector<std::string>>{
    {"GROUP", "PHASE", "MEMBERS", "CONTEXT", "LEADERS", "WAITS FOR"}};
  if (groups.is_array())
    for (const auto& x : groups)
      if (x.is_object())
        rows.push_back({or_dash(text(x, "id")), or_dash(text(x, "phase")),
                        std::to_string(names(x, "members").size()),
                        context_of(x), or_dash(joined(names(x, "leaders"))),
                        or_dash(joined(names(x, "missing")))});
  return align(rows);
}

std::string group_details(const json& group) {
  const auto leaders = names(group, "leaders");
  const auto missing = names(group, "missing");
  const auto members = names(group, "members");
  auto result = fmt::format("{}: {}", text(group, "id"), text(group, "phase"));
  result += ", " + count_of(members);
  if (context_of(group) != "-")
    result += ", context " + context_of(group);
  result += "\n";
  if (!missing.empty())
    result += "waits for " + joined(missing, missing.size()) + "\n";
  if (members.empty())
    return result;
  auto rows =
    std::vector<std::vector<std::string>>{{"RANK", "PROCESS", "LEADS", "HERE"}};
  const auto has_ranks = text(group, "phase") != "inviting"
                         && text(group, "phase") != "constructing";
  for (size_t i = 0; i < members.size(); ++i) {
    const auto is_among = [&](const std::vector<std::string>& xs) {
      return std::find(xs.begin(), xs.end(), members[i]) != xs.end();
    };
    rows.push_back({has_ranks ? std::to_string(i) : "-", members[i],
                    is_among(leaders) ? "yes" : "-",
                    is_among(missing) ? "missing" : "yes"});
  }
  return result + align(rows);
}

std::vector<group_change> group_changes(const json& before, const json& now) {
  const auto old_groups = by_identity(before);
  const auto groups = by_identity(now);
  auto result = std::vector<group_change>{};
  for (const auto& [key, group] : groups) {
    const auto i = old_groups.find(key);
    auto words = i == old_groups.end() ? describe(*group)
                                       : differences(*i->second, *group);
    if (words.empty())
      continue;
    auto& x = result.emplace_back();
    x.group = *group;
    x.words = std::move(words);
  }
  for (const auto& [key, group] : old_groups)
    if (groups.count(key) == 0) {
      auto& x = result.emplace_back();
      x.group = *group;
      x.group["phase"] = "over";
      x.words = "over";
    }
  return result;
}

// -- the command -------------------------------------------------------------

namespace {

/// How long a DVM may take to answer.
constexpr auto answer_time = std::chrono::seconds{30};

std::string_view name_of(group_order::verb x) {
  switch (x) {
    case group_order::verb::list:
      return "list";
    case group_order::verb::show:
      return "show";
    default:
      return "watch";
  }
}

int fail(const group_order& order, const std::string& reason) {
  std::cerr << notice("troupe group " + std::string{name_of(order.what)},
                      reason);
  return 1;
}

/// The groups that are asked for: an array of objects.
caf::expected<json> ask(tool_session& to, const group_order& order) {
  auto question = query_request{};
  auto& x = question.queries.emplace_back();
  x.keys = {std::string{group_list_key}};
  if (!order.id.empty())
    x.qualifiers = {{std::string{attr::group_id}, 0, value::string(order.id)}};
  const auto got = to.ask(question, answer_time);
  if (!got && status_of(got.error()) != status::not_found)
    return make_error(status_of(got.error()),
                      "the DVM does not answer: " + reason_of(got.error()));
  const auto* result = got ? std::get_if<info_result>(&*got) : nullptr;
  const auto* found =
    result != nullptr ? find(result->infos, group_list_key) : nullptr;
  if (found == nullptr)
    return make_error(status::not_supported,
                      "the server that answers does not know this; is it a DVM "
                      "of Troupe?");
  return to_json(*found);
}

int show(const group_order& order, tool_session& to) {
  const auto groups = ask(to, order);
  if (!groups)
    return fail(order, reason_of(groups.error()));
  if (!order.id.empty() && groups->empty())
    return fail(order, "there is no group "
                         + escape_control_characters(order.id)
                         + "; `troupe group list` shows those there are");
  if (order.json) {
    std::cout << json_document("groups", *groups);
  } else if (order.what == group_order::verb::list) {
    std::cout << group_table(*groups);
  } else {
    auto separator = "";
    for (const auto& x : *groups)
      std::cout << std::exchange(separator, "\n") << group_details(x);
  }
  return 0;
}

void print(const group_order& order, group_change& x) {
  const auto now = std::chrono::system_clock::now();
  if (order.json) {
    x.group["time"] =
      std::chrono::duration<double>{now.time_since_epoch()}.count();
    x.group["change"] = x.words;
    std::cout << json_line(x.group);
    return;
  }
  const auto id = x.group.value("id", std::string{});
  std::cout << fmt::format(
    "{:%H:%M:%S} {}: {}\n",
    fmt::localtime(std::chrono::system_clock::to_time_t(now)),
    escape_control_characters(id), escape_control_characters(x.words));
}

int watch(const group_order& order, tool_session& session) {
  auto before = json::array();
  auto next = std::chrono::steady_clock::now();
  for (;;) {
    auto now = ask(session, order);
    if (!now) {
      if (status_of(now.error()) == status::lost_connection
          || session.is_gone())
        return fail(order, "the DVM has ended, or the connection to it is "
                           "lost; see troupe nodes on its node");
      return fail(order, reason_of(now.error()));
    }
    for (auto& x : group_changes(before, *now))
      print(order, x);
    if (!std::cout.flush())
      return 0; // `guarded_main` says why.
    const auto had = !before.empty();
    before = std::move(*now);
    if (!order.id.empty() && had && before.empty())
      return 0;
    next = std::max(next + order.interval, std::chrono::steady_clock::now());
    std::this_thread::sleep_until(next);
  }
}

} // namespace

int group(std::vector<std::string> args) {
  const auto parsed = parse_group_options(std::move(args));
  if (const auto* status = std::get_if<int>(&parsed))
    return *status;
  const auto& order = std::get<group_order>(parsed);
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail(order, reason_of(session.error()));
  return order.what == group_order::verb::watch ? watch(order, **session)
                                                : show(order, **session);
}

} // namespace troupe
