#include "tools/group_text.hpp"

#include "config/escape.hpp"
#include "tools/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace troupe {

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

} // namespace troupe
