#include "actors/groups/group_names.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// What the Standard or OpenPMIx defines; all else is the application's.
bool is_reserved(std::string_view key) {
  return key.rfind("pmix.", 0) == 0;
}

/// Contents that are handed through as they are.
bool is_opaque(std::string_view key) {
  return key == attr::group_info || key == attr::group_info_array
         || key == attr::group_endpt_data;
}

caf::error no_such_rank(const proc_id& x, size_t size) {
  return make_error(status::bad_param,
                    "group " + x.nspace + " has no process of rank "
                      + (x.rank == rank_undef ? std::string{"PMIX_RANK_UNDEF"}
                                              : std::to_string(x.rank))
                      + ": its " + std::to_string(size)
                      + " members have ranks from 0");
}

caf::error names_one(const std::string& group, const std::string& where) {
  return make_error(status::bad_param,
                    "group " + group + " is named where one process is meant ("
                      + where + "): give the rank of a member");
}

/// Drops whoever comes again.
void drop_repeated(std::vector<proc_id>& procs) {
  auto seen = std::set<proc_id>{};
  procs.erase(
    std::remove_if(procs.begin(), procs.end(),
                   [&](const proc_id& x) { return !seen.insert(x).second; }),
    procs.end());
}

} // namespace

// -- which groups there are --------------------------------------------------

void group_names::learn(group_known what) {
  former_.erase(std::remove(former_.begin(), former_.end(), what.id),
                former_.end());
  if (what.members) {
    groups_[what.id] = std::move(what.members);
    return;
  }
  groups_.erase(what.id);
  former_.push_back(std::move(what.id));
  if (former_.size() > most_former)
    former_.pop_front();
}

const std::vector<proc_id>* group_names::find(const std::string& nspace) const {
  const auto i = groups_.find(nspace);
  return i != groups_.end() ? i->second.get() : nullptr;
}

caf::expected<const std::vector<proc_id>*>
group_names::members(const std::string& nspace) const {
  const auto* found = find(nspace);
  if (found == nullptr
      && std::find(former_.begin(), former_.end(), nspace) != former_.end())
    return make_error(status::invalid_namespace,
                      "group " + nspace
                        + " cannot be named by this process: it is not "
                          "complete, has ended, or the process has left it");
  return found;
}

// -- processes ---------------------------------------------------------------

caf::error group_names::spell_out(proc_id& proc) const {
  const auto found = members(proc.nspace);
  if (!found)
    return found.error();
  if (*found == nullptr)
    return {};
  if (proc.rank == rank_wildcard)
    return names_one(proc.nspace, "PMIX_RANK_WILDCARD");
  if (proc.rank >= (*found)->size())
    return no_such_rank(proc, (*found)->size());
  proc = (**found)[proc.rank];
  return {};
}

caf::error group_names::spell_out(std::vector<proc_id>& procs) const {
  auto result = std::vector<proc_id>{};
  auto has_group = false;
  for (size_t i = 0; i < procs.size(); ++i) {
    const auto& proc = procs[i];
    const auto found = members(proc.nspace);
    if (!found)
      return found.error();
    if (*found == nullptr) {
      if (has_group)
        result.push_back(proc);
      continue;
    }
    const auto& all = **found;
    if (proc.rank != rank_wildcard && proc.rank >= all.size())
      return no_such_rank(proc, all.size());
    if (!std::exchange(has_group, true))
      result.assign(procs.begin(),
                    procs.begin() + static_cast<std::ptrdiff_t>(i));
    if (proc.rank == rank_wildcard)
      result.insert(result.end(), all.begin(), all.end());
    else
      result.push_back(all[proc.rank]);
  }
  if (!has_group)
    return {};
  drop_repeated(result);
  procs = std::move(result);
  return {};
}

// -- values ------------------------------------------------------------------

caf::error group_names::spell_out_array(value& x, int depth) const {
  auto* array = std::get_if<box<data_array>>(&x.data);
  if (array == nullptr)
    return {};
  auto& elements = (*array)->elements;
  if ((*array)->element_type == data_type::info) {
    for (auto& y : elements)
      if (auto* inner = std::get_if<box<info>>(&y.data))
        if (auto why = spell_out(**inner, depth + 1))
          return why;
    return {};
  }
  const auto names_group = [this](const value& y) {
    const auto* proc = y.proc();
    if (proc == nullptr)
      return false;
    const auto found = members(proc->nspace);
    return !found || *found != nullptr;
  };
  if (std::none_of(elements.begin(), elements.end(), names_group))
    return {};
  auto procs = procs_of(x);
  if (auto why = spell_out(procs))
    return why;
  x = value::procs(std::move(procs));
  return {};
}

caf::error group_names::spell_out(info& x, int depth) const {
  if (depth > max_value_depth || !is_reserved(x.key) || is_opaque(x.key))
    return {};
  auto* proc = std::get_if<proc_id>(&x.val.data);
  if (proc == nullptr)
    return spell_out_array(x.val, depth);
  const auto found = members(proc->nspace);
  if (!found)
    return found.error();
  if (*found == nullptr)
    return {};
  if (proc->rank != rank_wildcard)
    return spell_out(*proc);
  if (x.key == attr::event_affected_proc) {
    x.key = attr::event_affected_procs;
  } else if (const auto* known = attribute_of(x.key);
             known != nullptr && known->type == data_type::proc) {
    return names_one(proc->nspace, x.key);
  }
  x.val = value::procs(**found);
  return {};
}

caf::error group_names::spell_out(std::vector<info>& infos) const {
  for (auto& x : infos)
    if (auto why = spell_out(x))
      return why;
  return {};
}

caf::error group_names::spell_out_qualifiers(std::vector<info>& infos) const {
  if (auto why = spell_out(infos))
    return why;
  const auto named = text(infos, attr::nspace);
  if (!named)
    return {};
  const auto found = members(*named);
  if (!found)
    return found.error();
  if (*found == nullptr)
    return {};
  auto proc = proc_id{
    *named, number<uint32_t>(infos, attr::rank).value_or(rank_wildcard)};
  if (auto why = spell_out(proc))
    return why;
  for (auto& x : infos) {
    if (x.key == attr::nspace)
      x.val = value::string(proc.nspace);
    else if (x.key == attr::rank)
      x.val = value::rank(proc.rank);
  }
  return {};
}

// -- requests ----------------------------------------------------------------

namespace {

/// One list after the other, until there is a mistake.
template <class... Ts>
caf::error all_of(const group_names& groups, Ts&... xs) {
  auto why = caf::error{};
  const auto one = [&](auto& x) {
    why = groups.spell_out(x);
    return !why;
  };
  (... && one(xs));
  return why;
}

} // namespace

caf::error spell_out(const group_names& groups, fence_request& x) {
  return all_of(groups, x.procs, x.directives);
}

caf::error spell_out(const group_names& groups, get_request& x) {
  return all_of(groups, x.target, x.directives);
}

caf::error spell_out(const group_names& groups, abort_request& x) {
  return groups.spell_out(x.procs);
}

caf::error spell_out(const group_names& groups, refresh_cache_request& x) {
  return groups.spell_out(x.target);
}

caf::error spell_out(const group_names& groups, publish_request& x) {
  return groups.spell_out(x.infos);
}

caf::error spell_out(const group_names& groups, lookup_request& x) {
  return groups.spell_out(x.directives);
}

caf::error spell_out(const group_names& groups, unpublish_request& x) {
  return groups.spell_out(x.directives);
}

caf::error spell_out(const group_names& groups, spawn_request& x) {
  auto why = groups.spell_out(x.job_infos);
  for (auto i = x.apps.begin(); !why && i != x.apps.end(); ++i)
    why = groups.spell_out(i->infos);
  return why;
}

caf::error spell_out(const group_names& groups, connect_procs_request& x) {
  return all_of(groups, x.procs, x.directives);
}

caf::error spell_out(const group_names& groups, disconnect_procs_request& x) {
  return all_of(groups, x.procs, x.directives);
}

caf::error spell_out(const group_names& groups, register_events_request& x) {
  return groups.spell_out(x.directives);
}

caf::error spell_out(const group_names& groups, notify_request& x) {
  return groups.spell_out(x.infos);
}

caf::error spell_out(const group_names& groups, query_request& x) {
  auto why = caf::error{};
  for (auto i = x.queries.begin(); !why && i != x.queries.end(); ++i)
    why = groups.spell_out_qualifiers(i->qualifiers);
  return why;
}

caf::error spell_out(const group_names& groups, log_request& x) {
  return all_of(groups, x.data, x.directives);
}

caf::error spell_out(const group_names& groups, job_control_request& x) {
  return all_of(groups, x.targets, x.directives);
}

caf::error spell_out(const group_names& groups, monitor_request& x) {
  if (auto why = groups.spell_out(x.monitor))
    return why;
  return groups.spell_out(x.directives);
}

caf::error spell_out(const group_names& groups, allocation_request& x) {
  return groups.spell_out(x.infos);
}

caf::error spell_out(const group_names& groups, group_construct_request& x) {
  return all_of(groups, x.procs, x.directives);
}

caf::error spell_out(const group_names& groups, group_destruct_request& x) {
  if (x.procs)
    if (auto why = groups.spell_out(*x.procs))
      return why;
  return groups.spell_out(x.directives);
}

caf::error spell_out(const group_names& groups, io_pull_request& x) {
  return all_of(groups, x.procs, x.directives);
}

caf::error spell_out(const group_names& groups, io_push_request& x) {
  return all_of(groups, x.targets, x.directives);
}

} // namespace troupe
