#include "actors/groups/group_directory.hpp"

#include "config/defaults.hpp"
#include "messages/status_error.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

constexpr auto fnv_offset = uint64_t{0xcbf29ce484222325};
constexpr auto fnv_prime = uint64_t{0x100000001b3};

/// The generations of invitations have this bit; those that are counted do not.
constexpr auto invitation_bit = uint64_t{1} << 63;

void mix(uint64_t& hash, const std::string& text) {
  for (const auto c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= fnv_prime;
  }
  hash *= fnv_prime;
}

void mix(uint64_t& hash, uint64_t number) {
  for (auto i = 0; i < 8; ++i) {
    hash ^= (number >> (8 * i)) & 0xff;
    hash *= fnv_prime;
  }
}

} // namespace

uint64_t group_directory::hash(const std::vector<proc_id>& ascending) {
  if (ascending.empty())
    return 0;
  auto result = fnv_offset;
  for (const auto& proc : ascending) {
    mix(result, proc.nspace);
    mix(result, proc.rank);
  }
  return result != 0 ? result : 1;
}

uint64_t group_directory::signature(const group_key& key) {
  auto result = fnv_offset;
  mix(result, key.id);
  mix(result, key.participants);
  return result;
}

caf::expected<group_directory::placement>
group_directory::place(const proc_id& caller, const std::string& id,
                       const std::vector<proc_id>& participants,
                       bool is_local) {
  auto result = placement{};
  result.key = {id, hash(participants), 0};
  auto last = uint64_t{0};
  for (auto i = groups_.lower_bound({id, 0, 0});
       i != groups_.end() && i->first.id == id; ++i) {
    const auto& [key, group] = *i;
    const auto is_same = key.participants == result.key.participants
                         && (key.generation & invitation_bit) == 0;
    if (is_same)
      last = std::max(last, key.generation);
    const auto how = group.local.of(caller);
    const auto has_called = how == use::taking_part;
    if (has_called && is_same)
      return make_error(status::exists,
                        to_string(caller) + " has to do with group " + id
                          + " already; let it end, or take another name");
    const auto is_awaited = how == use::awaited;
    if (is_same) {
      const auto may_join = is_awaited || (!how && group.members == nullptr);
      if (may_join && result.key.generation == 0)
        result.key.generation = key.generation;
      continue;
    }
    const auto is_counted =
      key.participants != 0 && (key.generation & invitation_bit) == 0;
    const auto is_construction = group.members == nullptr && is_counted;
    if (has_called || (is_awaited && is_construction))
      result.is_conflict = true;
    if ((has_called || is_awaited) && is_construction)
      result.conflicting.push_back(key);
  }
  if (result.key.generation != 0)
    return result;
  if (auto why = refusal(caller.nspace))
    return why;
  result.is_new = true;
  if (is_local) {
    // Nobody else has to come to the same number.
    result.key.generation = next_number();
    return result;
  }
  result.is_counted = true;
  const auto what = signature(result.key);
  auto is_known = false;
  for (const auto& [nspace, sets] : counts_)
    if (const auto n = sets.find(what); n != sets.end()) {
      is_known = true;
      last = std::max<uint64_t>(last, n->second);
    }
  if (!is_known && counted() >= defaults::collective_signatures)
    return make_error(status::out_of_resource,
                      "more than "
                        + std::to_string(defaults::collective_signatures)
                        + " different groups over several nodes; use their"
                          " names again");
  result.key.generation = last + 1;
  return result;
}

size_t group_directory::room(const std::string& nspace) const {
  const auto alive = static_cast<size_t>(
    std::count_if(groups_.begin(), groups_.end(),
                  [&](const auto& x) { return x.second.nspace == nspace; }));
  return alive < most_ ? most_ - alive : 0;
}

caf::error group_directory::refusal(const std::string& nspace) const {
  if (room(nspace) == 0)
    return make_error(status::out_of_resource,
                      "processes of namespace " + nspace + " have begun "
                        + std::to_string(most_)
                        + " groups already; let some of them end");
  return {};
}

caf::expected<group_key>
group_directory::invitation(const proc_id& leader, const std::string& id,
                            const std::vector<proc_id>& participants) {
  if (auto why = refusal(leader.nspace))
    return why;
  // Counted by the node of the leader, of which there is one.
  const auto who = hash({leader}) & 0x7fffffff;
  return group_key{id, hash(participants),
                   invitation_bit | (who << 32) | (next_number() & 0xffffffff)};
}

group_directory::open_group& group_directory::add(const group_key& key,
                                                  const std::string& nspace,
                                                  bool is_counted) {
  const auto i = groups_.try_emplace(key).first;
  auto& result = i->second;
  result.key = &i->first;
  result.nspace = nspace;
  if (is_counted && (key.generation & invitation_bit) == 0) {
    auto& n = counts_[nspace][signature(key)];
    n = std::max(n, static_cast<uint32_t>(key.generation));
  }
  return result;
}

group_directory::open_group* group_directory::find(const group_key& key) {
  const auto i = groups_.find(key);
  return i != groups_.end() ? &i->second : nullptr;
}

bool group_directory::is_over(const group_key& key) const {
  if (groups_.count(key) > 0)
    return false;
  if ((key.generation & invitation_bit) != 0)
    return std::any_of(
      invitations_.begin(), invitations_.end(),
      [&](const group_key& x) { return !(x < key) && !(key < x); });
  const auto what = signature(key);
  return std::any_of(counts_.begin(), counts_.end(), [&](const auto& x) {
    const auto i = x.second.find(what);
    return i != x.second.end() && i->second >= key.generation;
  });
}

void group_directory::remove(const group_key& key) {
  if (groups_.erase(key) == 0 || (key.generation & invitation_bit) == 0)
    return;
  invitations_.push_back(key);
  if (invitations_.size() > defaults::groups_remembered)
    invitations_.pop_front();
}

void group_directory::forget(const std::string& nspace) {
  counts_.erase(nspace);
  for (auto i = ended_.lower_bound({nspace, 0});
       i != ended_.end() && i->nspace == nspace;)
    i = ended_.erase(i);
}

std::vector<std::pair<const group_key*, group_directory::open_group*>>
group_directory::of(const proc_id& proc, const std::string& id) {
  auto result = std::vector<std::pair<const group_key*, open_group*>>{};
  for (auto i = groups_.lower_bound({id, 0, 0});
       i != groups_.end() && i->first.id == id; ++i) {
    const auto how = i->second.local.of(proc);
    if (how && how != use::released)
      result.emplace_back(&i->first, &i->second);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& x, const auto& y) {
                     return (x.first->generation & 0xffffffff)
                            < (y.first->generation & 0xffffffff);
                   });
  return result;
}

size_t group_directory::counted() const {
  auto result = size_t{0};
  for (const auto& [nspace, sets] : counts_)
    result += sets.size();
  return result;
}

} // namespace troupe
