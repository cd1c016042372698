#include "actors/groups/group_report.hpp"

#include "base/report_values.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace troupe {

namespace {

bool may_see(const requester& who, const group_status& x) {
  const auto is_of_job = [&](const proc_id& y) {
    return y.nspace == who.proc.nspace;
  };
  return is_tool(who.role)
         || std::any_of(x.members.begin(), x.members.end(), is_of_job)
         || std::any_of(x.missing.begin(), x.missing.end(), is_of_job);
}

/// Whether it is a group for those who ask by the Standard's keys.
bool is_group(const group_status& x) {
  return x.phase == group_phase::complete
         || x.phase == group_phase::destructing;
}

bool has_member(const group_status& x, const proc_id& proc) {
  return std::find(x.members.begin(), x.members.end(), proc) != x.members.end();
}

value describe(const group_status& x) {
  auto infos = std::vector<info>{
    {"id", 0, value::string(x.group.id)},
    {"participants", 0, value::uint64(x.group.participants)},
    {"generation", 0, value::uint64(x.group.generation)},
    {"phase", 0, value::string(std::string{text_of(x.phase)})},
    {"members", 0, value::procs(x.members)},
    {"leaders", 0, value::procs(x.leaders)},
    {"missing", 0, value::procs(x.missing)}};
  if (x.context_id)
    infos.push_back({"context_id", 0, value::uint64(*x.context_id)});
  infos.push_back({"entries", 0, value::uint64(x.entries)});
  return value::infos(std::move(infos));
}

value names(const std::set<std::string>& ids) {
  auto result = std::vector<value>{};
  for (const auto& id : ids)
    result.push_back(value::string(id));
  return value::array(data_type::string, std::move(result));
}

} // namespace

bool is_group_key(std::string_view key) {
  return key == attr::query_num_groups || key == attr::query_group_names
         || key == attr::query_group_membership || key == group_list_key;
}

std::string_view text_of(group_phase x) {
  switch (x) {
    case group_phase::inviting:
      return "inviting";
    case group_phase::constructing:
      return "constructing";
    case group_phase::complete:
      return "complete";
    case group_phase::destructing:
      return "destructing";
    default:
      return "over";
  }
}

std::vector<group_status> without_repeats(std::vector<group_status> groups) {
  auto best = std::map<group_key, group_status>{};
  for (auto& x : groups) {
    const auto [i, is_new] = best.emplace(x.group, x);
    if (!is_new && i->second.entries < x.entries)
      i->second = std::move(x);
  }
  auto result = std::vector<group_status>{};
  for (auto& [key, x] : best)
    result.push_back(std::move(x));
  return result;
}

std::optional<value> group_answer(std::string_view key,
                                  const std::vector<info>& qualifiers,
                                  const requester& who,
                                  const std::vector<group_status>& groups) {
  const auto wanted = text(qualifiers, attr::group_id);
  auto items = std::vector<value>{};
  auto ids = std::set<std::string>{};
  auto count = uint64_t{0};
  const group_status* meant = nullptr;
  for (const auto& x : groups) {
    if (!may_see(who, x) || (wanted && *wanted != x.group.id))
      continue;
    if (x.phase != group_phase::over)
      items.push_back(describe(x));
    if (!is_group(x))
      continue;
    ++count;
    ids.insert(x.group.id);
    if (meant == nullptr || !has_member(*meant, who.proc))
      meant = &x;
  }
  if (key == group_list_key)
    return report_list(std::move(items));
  if (key == attr::query_num_groups)
    return value::size(count);
  if (key == attr::query_group_names)
    return names(ids);
  if (key != attr::query_group_membership || !wanted || meant == nullptr)
    return std::nullopt;
  return value::procs(meant->members);
}

} // namespace troupe
