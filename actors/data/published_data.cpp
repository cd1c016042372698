#include "actors/data/published_data.hpp"

#include "actors/data/datastore.hpp"
#include "actors/data/get_options.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// What an entry costs besides the bytes of its key and value: who published
/// it, and its places in the maps. Without it, keys without values would be
/// free.
constexpr size_t overhead = 256;

/// About what an entry takes for each process that may see it.
constexpr size_t target_size = 96;

/// About what each user or group takes that may see an entry.
constexpr size_t admitted_size = 48;

/// How many times the bound of a process all that a user has published may be,
/// as what a namespace posts: what stays indefinitely outlives any number of
/// jobs.
constexpr size_t publishers_per_user = 16;

/// The name under which the sum of a user stands beside those of processes: no
/// process has an empty namespace.
proc_id sum_of(uint32_t uid) {
  return {{}, uid};
}

/// Whether a key says how to publish. No reserved key is data: only the host
/// gives those. Source: PMIx Standard v5, "Reserved keys".
bool is_directive(const std::string& key) {
  return is_reserved_key(key);
}

data_range range_in(const std::vector<info>& infos) {
  const auto x = number<uint8_t>(infos, attr::range);
  return x ? static_cast<data_range>(*x) : data_range::session;
}

persistence persistence_in(const std::vector<info>& infos) {
  const auto x = number<uint8_t>(infos, attr::persistence);
  return x ? static_cast<persistence>(*x) : persistence::app;
}

} // namespace

void published_data::erase(map::const_iterator i) {
  const auto size = size_bytes_.find(i->second.publisher.proc);
  size->second -= i->second.size_bytes;
  if (size->second == 0)
    size_bytes_.erase(size);
  const auto of_user = size_bytes_.find(sum_of(i->second.publisher.creds.uid));
  of_user->second -= i->second.size_bytes;
  if (of_user->second == 0)
    size_bytes_.erase(of_user);
  entries_.erase(i);
}

/// Source: PMIx Standard v5, PMIX_ACCESS_PERMISSIONS, PMIX_ACCESS_USERIDS and
/// PMIX_ACCESS_GRPIDS.
std::optional<published_data::admission>
published_data::read_admission(const std::vector<info>& xs) {
  auto result = admission{};
  const auto read = [&result](const info& x) {
    const auto is_user = x.key == attr::access_userids;
    if (!is_user && x.key != attr::access_grpids)
      return true;
    const auto* array = x.val.array();
    if (array == nullptr)
      return false;
    for (const auto& y : array->elements) {
      const auto id = y.number<uint32_t>();
      if (!id)
        return false;
      (is_user ? result.users : result.groups).insert(*id);
    }
    return true;
  };
  auto is_sound = std::all_of(xs.begin(), xs.end(), read);
  if (const auto* more = find(xs, attr::access_permissions)) {
    const auto inside = infos_of(*more);
    is_sound &= std::all_of(inside.begin(), inside.end(), read);
  }
  return is_sound ? std::optional{std::move(result)} : std::nullopt;
}

bool published_data::may_see(const entry& x, const requester& who,
                             data_range asked) const {
  // Data of another user is not there, unless he lets this one see it.
  if (x.publisher.creds.uid != who.creds.uid
      && x.others.users.count(who.creds.uid) == 0
      && x.others.groups.count(who.creds.gid) == 0)
    return false;
  if (asked == data_range::nspace && x.publisher.proc.nspace != who.proc.nspace)
    return false;
  switch (x.range) {
    case data_range::proc_local:
      return x.publisher.proc == who.proc;
    case data_range::nspace:
      return x.publisher.proc.nspace == who.proc.nspace;
    case data_range::custom:
      return x.targets.count(who.proc) > 0
             || x.targets.count({who.proc.nspace, rank_wildcard}) > 0;
    case data_range::rm:
    case data_range::invalid:
      return false;
    default:
      return true;
  }
}

status published_data::publish(const requester& who,
                               const publish_request& request) {
  const auto range = range_in(request.infos);
  const auto stays = persistence_in(request.infos);
  auto targets = std::set<proc_id>{};
  auto targets_size = size_t{0};
  if (const auto* x = find(request.infos, attr::event_custom_range))
    for (auto& proc : procs_of(*x)) {
      targets_size += target_size + proc.nspace.size();
      targets.insert(std::move(proc));
    }
  const auto others = read_admission(request.infos);
  if (!others)
    return status::bad_param;
  targets_size +=
    admitted_size * (others->users.size() + others->groups.size());
  const auto held = size_bytes_.find(who.proc);
  auto total = held != size_bytes_.end() ? held->second : 0;
  const auto held_by_user = size_bytes_.find(sum_of(who.creds.uid));
  auto users_total =
    held_by_user != size_bytes_.end() ? held_by_user->second : 0;
  auto entries = std::vector<std::pair<const info*, size_t>>{};
  auto named = std::set<std::string_view>{};
  for (const auto& x : request.infos) {
    if (is_directive(x.key))
      continue;
    const auto [first, last] = entries_.equal_range(x.key);
    for (auto i = first; i != last; ++i)
      // Two namespaces may each have a key of their own; otherwise the key must
      // be new to this user.
      if (i->second.publisher.creds.uid == who.creds.uid
          && (range != data_range::nspace
              || i->second.range != data_range::nspace
              || i->second.publisher.proc.nspace == who.proc.nspace))
        return status::duplicate_key;
    if (!named.insert(x.key).second)
      return status::duplicate_key;
    const auto cost = x.key.size() + size_of(x.val) + overhead + targets_size;
    total += cost;
    users_total += cost;
    if (total > bytes_per_process_
        || users_total / publishers_per_user > bytes_per_process_)
      return status::out_of_resource;
    entries.emplace_back(&x, cost);
  }
  if (entries.empty())
    return status::bad_param;
  size_bytes_[who.proc] = total;
  size_bytes_[sum_of(who.creds.uid)] = users_total;
  for (const auto& [x, cost] : entries)
    entries_.emplace(x->key,
                     entry{who, x->val, range, stays, targets, *others, cost});
  return status::success;
}

published_data::map::const_iterator
published_data::find_visible(const std::string& key, const requester& who,
                             data_range asked) const {
  const auto [first, last] = entries_.equal_range(key);
  auto result = entries_.end();
  for (auto i = first; i != last; ++i)
    if (may_see(i->second, who, asked)) {
      // One's own comes before what others let one see.
      if (i->second.publisher.creds.uid == who.creds.uid)
        return i;
      if (result == entries_.end())
        result = i;
    }
  return result;
}

std::vector<pdata> published_data::look_up(const requester& who,
                                           const lookup_request& request) {
  auto result = std::vector<pdata>{};
  const auto asked = range_in(request.directives);
  for (const auto& key : request.keys) {
    const auto i = find_visible(key, who, asked);
    if (i == entries_.end())
      continue;
    result.push_back({i->second.publisher.proc, key, i->second.val});
    if (i->second.stays == persistence::first_read)
      erase(i);
  }
  return result;
}

size_t published_data::count(const requester& who,
                             const lookup_request& request) const {
  const auto asked = range_in(request.directives);
  auto result = size_t{0};
  for (const auto& key : request.keys)
    if (find_visible(key, who, asked) != entries_.end())
      ++result;
  return result;
}

status published_data::unpublish(const requester& who,
                                 const unpublish_request& request) {
  auto removed = size_t{0};
  const auto remove = [&](map::const_iterator i, map::const_iterator end) {
    while (i != end) {
      const auto next = std::next(i);
      if (i->second.publisher.proc == who.proc) {
        erase(i);
        ++removed;
      }
      i = next;
    }
  };
  if (request.keys.empty())
    remove(entries_.begin(), entries_.end());
  for (const auto& key : request.keys) {
    const auto [first, last] = entries_.equal_range(key);
    remove(first, last);
  }
  return removed < request.keys.size() ? status::not_found : status::success;
}

void published_data::proc_ended(const proc_id& proc) {
  for (auto i = entries_.begin(); i != entries_.end();) {
    const auto next = std::next(i);
    if (i->second.publisher.proc == proc
        && i->second.stays == persistence::proc)
      erase(i);
    i = next;
  }
}

void published_data::nspace_ended(const std::string& nspace) {
  for (auto i = entries_.begin(); i != entries_.end();) {
    const auto next = std::next(i);
    if (i->second.publisher.proc.nspace == nspace
        && i->second.stays != persistence::indefinite
        && i->second.stays != persistence::session)
      erase(i);
    i = next;
  }
}

} // namespace troupe
