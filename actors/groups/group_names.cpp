#include "actors/groups/group_names.hpp"

#include "actors/groups/group_keys.hpp"
#include "base/all_of.hpp"
#include "base/make_info.hpp"
#include "config/defaults.hpp"
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
                      + " members have ranks from 0; name one of them");
}

caf::error names_one(const std::string& group, const std::string& where) {
  return make_error(status::bad_param,
                    "group " + group + " is named where one process is meant ("
                      + where + "): give the rank of a member");
}

/// Takes room for the members of a group.
caf::error take_room(size_t members, size_t& room) {
  if (members > room)
    return make_error(status::bad_param,
                      "the groups that one request names have more than "
                        + std::to_string(defaults::group_participants)
                        + " members: name fewer of them at once");
  room -= members;
  return {};
}

/// Drops whoever comes again.
void drop_repeated(std::vector<proc_id>& procs) {
  auto seen = std::set<proc_id>{};
  procs.erase(
    std::remove_if(procs.begin(), procs.end(),
                   [&](const proc_id& x) { return !seen.insert(x).second; }),
    procs.end());
}

/// Spells out one list after the other, until there is a mistake.
class request_speller {
public:
  explicit request_speller(const group_names& groups) : groups_(groups) {
    // nop
  }

  template <class... Ts>
  request_speller& operator()(Ts&... xs) {
    (one(xs), ...);
    return *this;
  }

  request_speller& qualifiers(std::vector<info>& xs) {
    if (!why_)
      why_ = groups_.spell_out_qualifiers(xs, room_);
    return *this;
  }

  caf::error take() {
    return std::move(why_);
  }

private:
  template <class T>
  void one(T& x) {
    if (!why_)
      why_ = groups_.spell_out(x, room_);
  }

  const group_names& groups_;
  size_t room_ = defaults::group_participants;
  caf::error why_;
};

std::set<std::string> parts_of(const std::string& list) {
  auto result = std::set<std::string>{};
  for (size_t begin = 0; begin < list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    if (end > begin)
      result.insert(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

} // namespace

// -- which groups there are --------------------------------------------------

void group_names::learn(group_known what) {
  if (former_names_.erase(what.id) > 0)
    former_.erase(std::find(former_.begin(), former_.end(), what.id));
  if (what.members) {
    groups_[what.id] = std::move(what.members);
    return;
  }
  groups_.erase(what.id);
  former_names_.insert(what.id);
  former_.push_back(std::move(what.id));
  if (former_.size() > most_former) {
    former_names_.erase(former_.front());
    former_.pop_front();
  }
}

const std::vector<proc_id>* group_names::find(const std::string& nspace) const {
  const auto i = groups_.find(nspace);
  return i != groups_.end() ? i->second.get() : nullptr;
}

caf::expected<const std::vector<proc_id>*>
group_names::members(const std::string& nspace) const {
  const auto* found = find(nspace);
  if (found == nullptr && former_names_.count(nspace) > 0)
    return make_error(
      status::invalid_namespace,
      "group " + nspace
        + " cannot be named by this process: it is not "
          "complete, has ended, or the process has left it; name its members");
  return found;
}

// -- processes ---------------------------------------------------------------

caf::error group_names::spell_out(proc_id& proc, size_t&) const {
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

caf::error group_names::spell_out(std::vector<proc_id>& procs,
                                  size_t& room) const {
  auto result = std::vector<proc_id>{};
  auto whole = std::set<std::string>{};
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
    if (proc.rank != rank_wildcard) {
      result.push_back(all[proc.rank]);
    } else if (whole.insert(proc.nspace).second) {
      if (auto why = take_room(all.size(), room))
        return why;
      result.insert(result.end(), all.begin(), all.end());
    }
  }
  if (!has_group)
    return {};
  if (procs.size() > 1)
    drop_repeated(result);
  procs = std::move(result);
  return {};
}

// -- values ------------------------------------------------------------------

caf::error group_names::spell_out_array(value& x, size_t& room,
                                        int depth) const {
  auto* array = std::get_if<box<data_array>>(&x.data);
  if (array == nullptr)
    return {};
  auto& elements = (*array)->elements;
  if ((*array)->element_type == data_type::info) {
    for (auto& y : elements)
      if (auto* inner = std::get_if<box<info>>(&y.data))
        if (auto why = spell_out(**inner, room, depth + 1))
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
  if (auto why = spell_out(procs, room))
    return why;
  x = value::procs(std::move(procs));
  return {};
}

caf::error group_names::spell_out(info& x, size_t& room, int depth) const {
  if (depth > max_value_depth || !is_reserved(x.key) || is_opaque(x.key))
    return {};
  auto* proc = std::get_if<proc_id>(&x.val.data);
  if (proc == nullptr)
    return spell_out_array(x.val, room, depth);
  const auto found = members(proc->nspace);
  if (!found)
    return found.error();
  if (*found == nullptr)
    return {};
  if (proc->rank != rank_wildcard)
    return spell_out(*proc, room);
  if (x.key == attr::event_affected_proc) {
    x.key = attr::event_affected_procs;
  } else if (const auto* known = attribute_of(x.key);
             known != nullptr && known->type == data_type::proc) {
    return names_one(proc->nspace, x.key);
  }
  if (auto why = take_room((*found)->size(), room))
    return why;
  x.val = value::procs(**found);
  return {};
}

caf::error group_names::spell_out(std::vector<info>& infos,
                                  size_t& room) const {
  for (auto& x : infos)
    if (auto why = spell_out(x, room))
      return why;
  return {};
}

caf::error group_names::spell_out_qualifiers(std::vector<info>& infos,
                                             size_t& room) const {
  if (auto why = spell_out(infos, room))
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
  if (auto why = spell_out(proc, room))
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

/// A fence over a group is another operation than one of the same processes:
/// who leaves the group does so in the midst of the former only. Libraries that
/// spell groups out by themselves say of which one.
caf::error spell_out(const group_names& groups, fence_request& x) {
  auto& infos = x.directives;
  auto id = text(infos, group_keys::fence).value_or(std::string{});
  infos.erase(
    std::remove_if(infos.begin(), infos.end(),
                   [](const info& y) { return y.key == group_keys::fence; }),
    infos.end());
  if (x.procs.size() == 1 && x.procs.front().rank == rank_wildcard
      && groups.find(x.procs.front().nspace) != nullptr)
    id = x.procs.front().nspace;
  else if (const auto* members = groups.find(id);
           members == nullptr || *members != x.procs)
    id.clear();
  if (!id.empty())
    infos.push_back(make_info(group_keys::fence, value::string(std::move(id))));
  return request_speller{groups}(x.procs, x.directives).take();
}

caf::error spell_out(const group_names& groups, get_request& x) {
  return request_speller{groups}(x.target, x.directives).take();
}

caf::error spell_out(const group_names& groups, abort_request& x) {
  return request_speller{groups}(x.procs).take();
}

caf::error spell_out(const group_names& groups, refresh_cache_request& x) {
  return request_speller{groups}(x.target).take();
}

caf::error spell_out(const group_names& groups, publish_request& x) {
  return request_speller{groups}(x.infos).take();
}

caf::error spell_out(const group_names& groups, lookup_request& x) {
  return request_speller{groups}(x.directives).take();
}

caf::error spell_out(const group_names& groups, unpublish_request& x) {
  return request_speller{groups}(x.directives).take();
}

caf::error spell_out(const group_names& groups, spawn_request& x) {
  auto spell = request_speller{groups};
  spell(x.job_infos);
  for (auto& program : x.apps)
    spell(program.infos);
  return spell.take();
}

caf::error spell_out(const group_names& groups, connect_procs_request& x) {
  return request_speller{groups}(x.procs, x.directives).take();
}

caf::error spell_out(const group_names& groups, disconnect_procs_request& x) {
  return request_speller{groups}(x.procs, x.directives).take();
}

caf::error spell_out(const group_names& groups, register_events_request& x) {
  return request_speller{groups}(x.directives).take();
}

caf::error spell_out(const group_names& groups, notify_request& x) {
  return request_speller{groups}(x.infos).take();
}

caf::error spell_out(const group_names& groups, query_request& x) {
  auto spell = request_speller{groups};
  for (auto& y : x.queries)
    spell.qualifiers(y.qualifiers);
  return spell.take();
}

caf::error spell_out(const group_names& groups, log_request& x) {
  return request_speller{groups}(x.data, x.directives).take();
}

caf::error spell_out(const group_names& groups, job_control_request& x) {
  return request_speller{groups}(x.targets, x.directives).take();
}

caf::error spell_out(const group_names& groups, monitor_request& x) {
  return request_speller{groups}(x.monitor, x.directives).take();
}

caf::error spell_out(const group_names& groups, allocation_request& x) {
  return request_speller{groups}(x.infos).take();
}

caf::error spell_out(const group_names& groups, group_construct_request& x) {
  return request_speller{groups}(x.procs, x.directives).take();
}

caf::error spell_out(const group_names& groups, group_destruct_request& x) {
  auto spell = request_speller{groups};
  if (x.procs)
    spell(*x.procs);
  return spell(x.directives).take();
}

caf::error spell_out(const group_names& groups, io_pull_request& x) {
  return request_speller{groups}(x.procs, x.directives).take();
}

caf::error spell_out(const group_names& groups, io_push_request& x) {
  return request_speller{groups}(x.targets, x.directives).take();
}

std::vector<std::string> group_places::namespaces() const {
  auto result = std::set<std::string>{};
  for (const auto& x : members_)
    result.insert(x.nspace);
  return {result.begin(), result.end()};
}

void group_places::find_peers(const std::optional<std::string>& node,
                              std::function<void(peers)> done) {
  using members = std::set<proc_id>;
  auto all = all_of<members>{
    {},
    [me = shared_from_this(), done = std::move(done)](const members& found) {
      auto result = peers{};
      for (const auto& x : me->members_)
        if (found.count(x) > 0)
          result.push_back(x);
      done(std::move(result));
    }};
  for (auto& nspace : namespaces()) {
    all.add();
    ask_.peers_on({node, std::move(nspace)}, [all](const peers& found) {
      all->insert(found.begin(), found.end());
      all.done();
    });
  }
  all.done();
}

void group_places::find_nodes(std::function<void(std::string)> done) {
  // Whoever has processes of the namespaces may have a member.
  using names = std::set<std::string>;
  auto found = all_of<names>{{}, [done = std::move(done)](const names& nodes) {
                               auto result = std::string{};
                               for (const auto& x : nodes)
                                 result += (result.empty() ? "" : ",") + x;
                               done(std::move(result));
                             }};
  auto candidates =
    all_of<names>{{}, [me = shared_from_this(), found](const names& nodes) {
                    for (const auto& node : nodes) {
                      found.add();
                      me->find_peers(node, [found, node](const peers& members) {
                        if (!members.empty())
                          found->insert(node);
                        found.done();
                      });
                    }
                    found.done();
                  }};
  for (auto& nspace : namespaces()) {
    candidates.add();
    ask_.nodes_of({std::move(nspace)}, [candidates](const std::string& list) {
      candidates->merge(parts_of(list));
      candidates.done();
    });
  }
  candidates.done();
}

} // namespace troupe
