#include "actors/data/process_store.hpp"

#include "actors/data/process_store_entries.hpp"
#include "actors/data/qualified_value.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

/// What the rank's own data are called in job data, see `add_entry`.
constexpr auto per_rank_array = std::string_view{"pmix.pdata"};

} // namespace

// -- filling -----------------------------------------------------------------

void process_store::set_self(proc_id self, std::string hostname) {
  const auto guard = std::lock_guard{mutex_};
  self_ = std::move(self);
  hostname_ = std::move(hostname);
}

process_store::job& process_store::job_of(const std::string& nspace) {
  return jobs_[nspace];
}

/// Takes the array of a node, an application or a session: a newer one of the
/// same number or name adds to the older.
void process_store::add_part(std::vector<part>& to, const value& x,
                             std::string_view id, std::string_view other_id) {
  auto fresh = part{};
  for (auto& y : infos_of(x))
    fresh.data.insert_or_assign(std::move(y.key), std::move(y.val));
  const auto same = [&](const part& y) {
    for (const auto key : {id, other_id}) {
      if (key.empty())
        continue;
      const auto* mine = look_up(fresh.data, key);
      const auto* theirs = look_up(y.data, key);
      if (mine != nullptr && theirs != nullptr)
        return *mine == *theirs;
    }
    return false;
  };
  const auto i = std::find_if(to.begin(), to.end(), same);
  if (i == to.end()) {
    to.push_back(std::move(fresh));
    return;
  }
  for (auto& [key, val] : fresh.data)
    i->data.insert_or_assign(key, std::move(val));
}

void process_store::add_rank(job& to, uint32_t rank,
                             const std::vector<key_value>& xs) {
  auto& data = to.ranks[rank];
  for (const auto& x : xs)
    data.insert_or_assign(storage_key(x.key, x.val), x.val);
}

void process_store::add_entry(job& to, const key_value& x) {
  if (x.key == attr::node_info_array) {
    add_part(to.nodes, x.val, attr::hostname, attr::nodeid);
  } else if (x.key == attr::app_info_array) {
    add_part(to.apps, x.val, attr::appnum, {});
  } else if (x.key == attr::session_info_array) {
    add_part(to.sessions, x.val, attr::session_id, {});
  } else if (x.key == attr::job_info_array) {
    for (auto& y : infos_of(x.val))
      to.data.insert_or_assign(storage_key(y.key, y.val), std::move(y.val));
  } else if (x.key == per_rank_array) {
    auto infos = infos_of(x.val);
    if (const auto rank = number<uint32_t>(infos, attr::rank))
      for (auto& y : infos)
        to.ranks[*rank].insert_or_assign(storage_key(y.key, y.val),
                                         std::move(y.val));
  } else if (!is_reserved_key(x.key) && x.val.array() != nullptr
             && x.val.array()->element_type == data_type::info) {
    // Before 3.1.100, and in spawn replies of 4.2, a node's array has the
    // node's name for a key. Source: OpenPMIx wire protocol, job info.
    auto node = infos_of(x.val);
    if (troupe::find(node, attr::hostname) == nullptr)
      node.push_back({std::string{attr::hostname}, 0, value::string(x.key)});
    add_part(to.nodes, value::infos(std::move(node)), attr::hostname, {});
    to.data.insert_or_assign(x.key, x.val);
  } else {
    to.data.insert_or_assign(storage_key(x.key, x.val), x.val);
  }
}

void process_store::add_job(const job_info& x) {
  const auto guard = std::lock_guard{mutex_};
  auto& to = job_of(x.nspace);
  for (const auto& y : x.entries)
    add_entry(to, y);
  for (const auto& y : x.ranks)
    add_rank(to, y.rank, y.entries);
}

void process_store::add_job(const spawn_result& x) {
  const auto guard = std::lock_guard{mutex_};
  auto& to = job_of(x.nspace);
  for (const auto& y : x.entries)
    add_entry(to, y);
  for (const auto& y : x.ranks)
    add_rank(to, y.rank, y.entries);
}

void process_store::add(const proc_data& x) {
  const auto guard = std::lock_guard{mutex_};
  auto& to = job_of(x.proc.nspace);
  if (x.proc.rank == rank_wildcard || x.proc.rank == rank_undef)
    for (const auto& y : x.entries)
      add_entry(to, y);
  else
    add_rank(to, x.proc.rank, x.entries);
}

void process_store::forget(const proc_id& proc) {
  const auto guard = std::lock_guard{mutex_};
  const auto i = jobs_.find(proc.nspace);
  if (i == jobs_.end())
    return;
  if (proc.rank == rank_wildcard)
    return; // The job level is only ever replaced, key by key.
  const auto data = i->second.ranks.find(proc.rank);
  if (data == i->second.ranks.end())
    return;
  for (auto y = data->second.begin(); y != data->second.end();)
    y = is_reserved_key(y->first) && posted_key(y->first) == y->first
          ? std::next(y)
          : data->second.erase(y);
}

void process_store::forget_job(const std::string& nspace) {
  const auto guard = std::lock_guard{mutex_};
  jobs_.erase(nspace);
}

// -- posting -----------------------------------------------------------------

void process_store::put(scope visible_to, std::string key, value x) {
  const auto guard = std::lock_guard{mutex_};
  const auto travels = visible_to != scope::internal;
  auto name = storage_key(key, x);
  posted_.insert_or_assign(std::move(name),
                           posted{std::move(x), visible_to, !travels});
  has_news_ = has_news_ || travels;
}

status process_store::take_back(scope visible_to, const std::string& key) {
  // Local and remote are bits, global is both.
  const auto bits = [](scope x) { return static_cast<unsigned>(x); };
  const auto guard = std::lock_guard{mutex_};
  const auto i = posted_.find(key);
  if (i == posted_.end()
      || (bits(i->second.visible_to) & bits(visible_to)) == 0)
    return status::not_found;
  auto& x = i->second;
  if (x.is_committed && x.visible_to != scope::internal)
    return status::not_supported;
  x.visible_to = static_cast<scope>(bits(x.visible_to) & ~bits(visible_to));
  if (x.visible_to == scope::undef)
    posted_.erase(i);
  return status::success;
}

void process_store::store(const proc_id& proc, std::string key, value x) {
  const auto guard = std::lock_guard{mutex_};
  auto& to = job_of(proc.nspace);
  if (proc.rank == rank_wildcard || proc.rank == rank_undef)
    add_entry(to, {std::move(key), std::move(x)});
  else
    add_rank(to, proc.rank, {{std::move(key), std::move(x)}});
}

commit_request process_store::take_commit() {
  const auto guard = std::lock_guard{mutex_};
  auto result = commit_request{};
  if (!std::exchange(has_news_, false))
    return result;
  auto local = posted_data{scope::local, {}};
  auto remote = posted_data{scope::remote, {}};
  for (auto& [key, x] : posted_) {
    if (std::exchange(x.is_committed, true))
      continue;
    if (x.visible_to == scope::local || x.visible_to == scope::global)
      local.entries.push_back({std::string{posted_key(key)}, x.val});
    if (x.visible_to == scope::remote || x.visible_to == scope::global)
      remote.entries.push_back({std::string{posted_key(key)}, x.val});
  }
  for (auto* x : {&local, &remote})
    if (!x->entries.empty())
      result.blocks.push_back(std::move(*x));
  return result;
}

// -- peers and nodes ---------------------------------------------------------

bool process_store::knows(const std::string& nspace) const {
  const auto guard = std::lock_guard{mutex_};
  return find_job(nspace) != nullptr;
}

std::optional<std::vector<proc_id>>
process_store::peers(const std::string& node, const std::string& nspace) const {
  const auto guard = std::lock_guard{mutex_};
  auto result = std::vector<proc_id>{};
  auto is_known = false;
  for (const auto& [name, x] : jobs_) {
    if (!nspace.empty() && name != nspace)
      continue;
    auto options = get_options{};
    options.hostname = node.empty() ? hostname_ : node;
    const auto* y = node_of(x, rank_undef, options);
    const auto* list =
      y != nullptr ? text_in(y->data, attr::local_peers) : nullptr;
    if (list == nullptr && *options.hostname == hostname_)
      list = text_in(x.data, attr::local_peers);
    if (list == nullptr) {
      // Every node of a job that we have heard of has an entry.
      is_known = is_known || (!x.nodes.empty() && !nspace.empty());
      continue;
    }
    is_known = true;
    for (const auto rank : ranks_in(*list))
      result.push_back({name, rank});
  }
  if (!is_known)
    return std::nullopt;
  std::sort(result.begin(), result.end());
  return result;
}

std::optional<std::string>
process_store::nodes(const std::string& nspace) const {
  const auto guard = std::lock_guard{mutex_};
  auto names = std::vector<std::string>{};
  auto is_known = false;
  const auto add_name = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  for (const auto& [name, x] : jobs_) {
    if (!nspace.empty() && name != nspace)
      continue;
    if (const auto* list = text_in(x.data, attr::node_list)) {
      is_known = true;
      auto rest = std::string_view{*list};
      while (!rest.empty()) {
        const auto n = std::min(rest.find(','), rest.size());
        if (n > 0)
          add_name(std::string{rest.substr(0, n)});
        rest.remove_prefix(std::min(n + 1, rest.size()));
      }
      continue;
    }
    for (const auto& y : x.nodes)
      if (const auto* host = text_in(y.data, attr::hostname)) {
        is_known = true;
        add_name(*host);
      }
  }
  if (!is_known)
    return std::nullopt;
  auto result = std::string{};
  for (const auto& name : names)
    result += (result.empty() ? "" : ",") + name;
  return result;
}

std::vector<std::string> process_store::nspaces() const {
  const auto guard = std::lock_guard{mutex_};
  auto result = std::vector<std::string>{};
  for (const auto& [name, x] : jobs_)
    result.push_back(name);
  return result;
}

} // namespace troupe
