#include "actors/data/process_store.hpp"

#include "actors/data/get_options.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/proc_id.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

namespace {

template <class Entries>
const value* look_up(const Entries& xs, std::string_view key) {
  const auto i = xs.find(key);
  return i != xs.end() ? &i->second : nullptr;
}

template <class T, class Entries>
std::optional<T> number_in(const Entries& xs, std::string_view key) {
  const auto* x = look_up(xs, key);
  return x != nullptr ? x->template number<T>() : std::nullopt;
}

template <class Entries>
const std::string* text_in(const Entries& xs, std::string_view key) {
  const auto* x = look_up(xs, key);
  return x != nullptr ? x->text() : nullptr;
}

/// The ranks in a list such as `0,1,2`; what is no number is left out.
inline std::vector<uint32_t> ranks_in(std::string_view text) {
  auto result = std::vector<uint32_t>{};
  while (!text.empty()) {
    const auto n = std::min(text.find(','), text.size());
    auto rank = uint64_t{0};
    auto is_number = n > 0;
    for (const auto c : text.substr(0, n)) {
      is_number = is_number && c >= '0' && c <= '9' && rank <= rank_valid_max;
      rank = rank * 10 + static_cast<uint64_t>(c - '0');
    }
    if (is_number && rank <= rank_valid_max)
      result.push_back(static_cast<uint32_t>(rank));
    text.remove_prefix(std::min(n + 1, text.size()));
  }
  return result;
}

/// What the rank's own data are called in job data, see `add_entry`.
constexpr auto per_rank_array = std::string_view{"pmix.pdata"};

/// Local and remote are bits, global is both, internal another one.
constexpr uint8_t bits_of(scope x) {
  return static_cast<uint8_t>(x);
}

template <class Entries>
void append(const Entries& from, std::vector<info>& to) {
  for (const auto& [key, val] : from)
    to.push_back(make_info(posted_key(key), val));
}

} // namespace

// -- filling -----------------------------------------------------------------

void process_store::set_self(proc_id self, std::string hostname) {
  const auto guard = std::lock_guard{mutex_};
  self_ = std::move(self);
  own_rank_ = self_.rank;
  hostname_ = std::move(hostname);
}

process_store::job& process_store::job_of(const std::string& nspace) {
  return jobs_[nspace];
}

/// Notes a key of some rank, whoever says it. @pre locked
void process_store::note_key(std::string_view key) {
  if (!is_reserved_key(key))
    has_keys_of_ranks_ = true;
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

/// Unpacks what nobody has asked for of a rank. Whatever comes later goes over it.
void process_store::unpack(const job& x, uint32_t rank) {
  if (!x.packed)
    return;
  auto found = x.packed->of(rank);
  if (found.empty())
    return;
  // To those who look it has been there all the time.
  auto& to = const_cast<job&>(x).ranks[rank];
  for (auto& y : found)
    to.insert_or_assign(storage_key(y.key, y.val), std::move(y.val));
  x.packed->drop(rank);
}

void process_store::unpack_all(const job& x) {
  if (x.packed)
    for (const auto rank : x.packed->ranks())
      unpack(x, rank);
}

/// What is kept of a rank as said by the host or this process; null: nothing.
const process_store::entries* process_store::rank_in(const job& x,
                                                     uint32_t rank) {
  unpack(x, rank);
  const auto i = x.ranks.find(rank);
  return i != x.ranks.end() ? &i->second : nullptr;
}

void process_store::add_rank(job& to, uint32_t rank,
                             std::vector<key_value> xs) {
  unpack(to, rank);
  auto& data = to.ranks[rank];
  for (auto& x : xs) {
    note_key(x.key);
    data.insert_or_assign(storage_key(x.key, x.val), std::move(x.val));
  }
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
    if (const auto rank = number<uint32_t>(infos, attr::rank)) {
      unpack(to, *rank);
      for (auto& y : infos) {
        note_key(y.key);
        to.ranks[*rank].insert_or_assign(storage_key(y.key, y.val),
                                         std::move(y.val));
      }
    }
  } else if (!is_reserved_key(x.key) && x.val.array() != nullptr
             && x.val.array()->element_type == data_type::info) {
    // Before 3.1.100, and in spawn replies of 4.2, a node's array has the
    // node's name for a key. Source: OpenPMIx wire protocol, job info.
    auto node = infos_of(x.val);
    if (troupe::find(node, attr::hostname) == nullptr)
      node.push_back(make_info(attr::hostname, value::string(x.key)));
    add_part(to.nodes, value::infos(std::move(node)), attr::hostname, {});
    to.data.insert_or_assign(x.key, x.val);
  } else {
    to.data.insert_or_assign(storage_key(x.key, x.val), x.val);
  }
}

void process_store::add_job(job_info x, std::unique_ptr<packed_ranks> more) {
  const auto guard = std::lock_guard{mutex_};
  auto& to = job_of(x.nspace);
  for (const auto& y : x.entries)
    add_entry(to, y);
  for (auto& y : x.ranks)
    add_rank(to, y.rank, std::move(y.entries));
  if (!more)
    return;
  unpack_all(to);
  to.packed = std::move(more);
  // What they replace.
  for (const auto& [rank, unused] : to.ranks)
    unpack(to, rank);
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
    for (const auto& y : x.entries) {
      // What the host says stays as it is. A qualified value may be anybody's.
      const auto is_posted =
        y.key == attr::qualified_value || !is_given_by_host(y.key);
      if (!is_posted)
        unpack(to, x.proc.rank);
      note_key(y.key);
      auto& data = is_posted ? to.fetched : to.ranks;
      data[x.proc.rank].insert_or_assign(storage_key(y.key, y.val), y.val);
    }
}

void process_store::forget(const proc_id& proc) {
  const auto guard = std::lock_guard{mutex_};
  const auto i = jobs_.find(proc.nspace);
  if (i == jobs_.end())
    return;
  if (proc.rank == rank_wildcard)
    i->second.fetched.clear();
  else
    i->second.fetched.erase(proc.rank);
}

void process_store::forget_job(const std::string& nspace) {
  const auto guard = std::lock_guard{mutex_};
  jobs_.erase(nspace);
}

// -- posting -----------------------------------------------------------------

/// The place of a key, made if there is none.
process_store::posts::iterator
process_store::place_of_post(std::string_view key, const value& x) {
  if (key == attr::qualified_value)
    return posted_.try_emplace(storage_key(std::string{key}, x)).first;
  const auto i = posted_.lower_bound(key);
  return i != posted_.end() && i->first == key
           ? i
           : posted_.try_emplace(i, std::string{key});
}

void process_store::put(scope visible_to, std::string_view key, value x) {
  const auto guard = std::lock_guard{mutex_};
  const auto travels = visible_to != scope::internal;
  const auto i = place_of_post(key, x);
  auto& to = i->second;
  if (travels && !to.is_fresh) {
    fresh_.push_back(i);
    to.is_fresh = true;
  }
  to.val = std::move(x);
  to.visible_to = visible_to;
  to.is_committed = !travels;
  has_news_ = has_news_ || travels;
}

status process_store::take_back(scope visible_to, const std::string& key,
                                bool can_tell) {
  const auto from = bits_of(visible_to);
  const auto guard = std::lock_guard{mutex_};
  auto found = std::vector<posts::iterator>{};
  if (const auto i = posted_.find(key); i != posted_.end())
    found.push_back(i);
  const auto prefix = qualified_prefix(key);
  for (auto i = posted_.lower_bound(prefix);
       i != posted_.end() && i->first.compare(0, prefix.size(), prefix) == 0;
       ++i)
    found.push_back(i);
  const auto is_told = [&](const auto& i) {
    return (i->second.told & from) != 0;
  };
  if (!can_tell && std::any_of(found.begin(), found.end(), is_told))
    return status::not_supported;
  for (const auto& i : found) {
    auto& [name, x] = *i;
    if (is_told(i)) {
      auto& gone = removed_[name];
      has_removed_ = true;
      gone.from |= x.told & from;
      if (posted_key(name) != name)
        gone.val = x.val;
      has_news_ = true;
    }
    x.told &= static_cast<uint8_t>(~from);
    x.visible_to = static_cast<scope>(bits_of(x.visible_to) & ~from);
    if (x.visible_to != scope::undef || x.told != 0)
      continue;
    // What is taken back at once stands last.
    if (x.is_fresh)
      fresh_.erase(std::find(fresh_.rbegin(), fresh_.rend(), i).base() - 1);
    posted_.erase(i);
  }
  if ((from & bits_of(scope::local)) != 0)
    if (const auto i = jobs_.find(self_.nspace); i != jobs_.end())
      if (const auto mine = i->second.fetched.find(self_.rank);
          mine != i->second.fetched.end()) {
        auto& known = mine->second;
        known.erase(key);
        auto next = known.lower_bound(prefix);
        while (next != known.end()
               && next->first.compare(0, prefix.size(), prefix) == 0)
          next = known.erase(next);
      }
  return status::success;
}

bool process_store::has_taken_back(const target& x) const {
  if (!has_removed_)
    return false;
  const auto guard = std::lock_guard{mutex_};
  if (!x.key || x.proc != self_)
    return false;
  const auto i = removed_.find(*x.key);
  if (i == removed_.end() || (i->second.from & bits_of(scope::local)) == 0)
    return false;
  const auto now = posted_.find(*x.key);
  return now == posted_.end() || now->second.visible_to == scope::undef;
}

void process_store::store(const proc_id& proc, std::string key, value x) {
  const auto guard = std::lock_guard{mutex_};
  auto& to = job_of(proc.nspace);
  if (proc.rank == rank_wildcard || proc.rank == rank_undef)
    add_entry(to, {std::move(key), std::move(x)});
  else
    add_rank(to, proc.rank, {{std::move(key), std::move(x)}});
}

/// Puts what has been posted in the order of its names.
void process_store::sort_fresh() {
  std::sort(fresh_.begin(), fresh_.end(),
            [](const auto& x, const auto& y) { return x->first < y->first; });
}

const std::vector<process_store::news>& process_store::list_news() {
  news_.clear();
  for (const auto& [name, x] : removed_)
    news_.push_back({name, nullptr, static_cast<scope>(x.from)});
  sort_fresh();
  for (const auto& i : fresh_)
    if (const auto& x = i->second;
        !x.is_committed && x.visible_to != scope::undef)
      news_.push_back({i->first, &x.val, x.visible_to});
  return news_;
}

/// What there is of news is none any more.
void process_store::note_commit() {
  for (const auto& i : fresh_) {
    auto& x = i->second;
    x.is_fresh = false;
    if (!std::exchange(x.is_committed, true))
      x.told |= bits_of(x.visible_to);
  }
  fresh_.clear();
  if (!removed_.empty()) {
    removed_.clear();
    has_removed_ = false;
  }
  has_news_ = false;
}

commit_request process_store::take_commit() {
  const auto guard = std::lock_guard{mutex_};
  auto result = commit_request{};
  if (!has_news_)
    return result;
  // What is taken back goes before what is posted anew.
  for (const auto whose : {scope::local, scope::remote, scope::global}) {
    auto block = posted_data{taking_from(whose), {}};
    for (const auto& [name, x] : removed_)
      if (x.from == bits_of(whose))
        block.entries.push_back({std::string{posted_key(name)}, x.val});
    if (!block.entries.empty())
      result.blocks.push_back(std::move(block));
  }
  sort_fresh();
  auto local = posted_data{scope::local, {}};
  auto remote = posted_data{scope::remote, {}};
  for (const auto& i : fresh_) {
    const auto& [key, x] = *i;
    if (x.is_committed)
      continue;
    if (x.visible_to == scope::local || x.visible_to == scope::global)
      local.entries.push_back({std::string{posted_key(key)}, x.val});
    if (x.visible_to == scope::remote || x.visible_to == scope::global)
      remote.entries.push_back({std::string{posted_key(key)}, x.val});
  }
  for (auto* x : {&local, &remote})
    if (!x->entries.empty())
      result.blocks.push_back(std::move(*x));
  note_commit();
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

const process_store::job*
process_store::find_job(const std::string& nspace) const {
  const auto i = jobs_.find(nspace);
  return i != jobs_.end() ? &i->second : nullptr;
}

const process_store::part*
process_store::node_of(const job& x, uint32_t rank,
                       const get_options& options) const {
  const auto same_name = [](const part& y, const std::string& name) {
    const auto* have = text_in(y.data, attr::hostname);
    if (have != nullptr && *have == name)
      return true;
    const auto* aliases = text_in(y.data, attr::hostname_aliases);
    return aliases != nullptr
           && ("," + *aliases + ",").find("," + name + ",")
                != std::string::npos;
  };
  const auto named = [&](const std::string& name) -> const part* {
    for (const auto& y : x.nodes)
      if (same_name(y, name))
        return &y;
    return nullptr;
  };
  const auto numbered = [&](uint32_t id) -> const part* {
    for (const auto& y : x.nodes)
      if (number_in<uint32_t>(y.data, attr::nodeid) == id)
        return &y;
    return nullptr;
  };
  if (options.hostname)
    return named(*options.hostname);
  if (options.node_id)
    return numbered(*options.node_id);
  if (const auto* own = rank_in(x, rank)) {
    if (const auto* name = text_in(*own, attr::hostname))
      if (const auto* found = named(*name))
        return found;
    if (const auto id = number_in<uint32_t>(*own, attr::nodeid))
      return numbered(*id);
  }
  return named(hostname_);
}

const process_store::part*
process_store::app_of(const job& x, uint32_t rank,
                      const get_options& options) const {
  auto wanted = options.app_number;
  if (!wanted)
    if (const auto* own = rank_in(x, rank))
      wanted = number_in<uint32_t>(*own, attr::appnum);
  if (!wanted)
    return x.apps.size() == 1 ? &x.apps.front() : nullptr;
  for (const auto& y : x.apps)
    if (number_in<uint32_t>(y.data, attr::appnum) == wanted)
      return &y;
  return nullptr;
}

const process_store::part*
process_store::session_of(const job& x, const get_options& options) const {
  if (!options.session_id)
    return x.sessions.empty() ? nullptr : &x.sessions.front();
  for (const auto& y : x.sessions)
    if (number_in<uint32_t>(y.data, attr::session_id) == options.session_id)
      return &y;
  return nullptr;
}

const value* process_store::find_in_rank(const job& x, const proc_id& proc,
                                         std::string_view key,
                                         scope wanted) const {
  if (proc == self_) {
    if (const auto i = posted_.find(key);
        i != posted_.end() && i->second.visible_to != scope::undef
        && (wanted == scope::undef || wanted == i->second.visible_to))
      return &i->second.val;
    if (wanted != scope::undef && !is_reserved_key(key))
      return nullptr;
  }
  return find_posted(x, proc.rank, key);
}

/// All that is kept of a process.
process_store::entries process_store::all_of(const job& x, uint32_t rank) {
  unpack(x, rank);
  auto result = entries{};
  for (const auto* from : {&x.ranks, &x.fetched})
    if (const auto i = from->find(rank); i != from->end())
      result.insert(i->second.begin(), i->second.end());
  return result;
}

/// What is kept of a process under a key: as said by the host or this process, or
/// as fetched.
const value* process_store::find_posted(const job& x, uint32_t rank,
                                        std::string_view key) {
  if (is_reserved_key(key))
    unpack(x, rank);
  for (const auto* from : {&x.ranks, &x.fetched})
    if (const auto i = from->find(rank); i != from->end())
      if (const auto* found = look_up(i->second, key))
        return found;
  return nullptr;
}

/// Looks a key up where its level says, for processes of whose own data it is
/// none.
const value* process_store::find_in_level(const job& x, uint32_t rank,
                                          std::string_view key,
                                          key_level level) const {
  const auto in = [&](const part* y) {
    return y != nullptr ? look_up(y->data, key) : nullptr;
  };
  const auto none = get_options{};
  const auto of_self = rank == rank_wildcard || rank == rank_undef;
  const auto whose = of_self ? self_.rank : rank;
  const value* found = nullptr;
  if (level == key_level::node)
    found = in(node_of(x, whose, none));
  else if (level == key_level::app)
    found = in(app_of(x, whose, none));
  else if (level == key_level::session)
    found = in(session_of(x, none));
  if (found == nullptr)
    found = look_up(x.data, key);
  if (found == nullptr && level == key_level::job) {
    // Hosts put keys of their own into the arrays.
    found = in(session_of(x, none));
    if (found == nullptr)
      found = in(app_of(x, whose, none));
    if (found == nullptr)
      found = in(node_of(x, whose, none));
  }
  return found;
}

/// The undefined rank: a key that is unique in the namespace.
/// Source: PMIx Standard v5, PMIX_RANK_UNDEF.
const value* process_store::find_anywhere(const job& x, const proc_id& proc,
                                          std::string_view key) const {
  if (proc.nspace == self_.nspace)
    if (const auto* found = find_in_rank(x, self_, key, scope::undef))
      return found;
  if (const auto* found = find_in_level(x, rank_undef, key, level_of(key)))
    return found;
  if (is_reserved_key(key))
    unpack_all(x);
  for (const auto* from : {&x.ranks, &x.fetched})
    for (const auto& [rank, data] : *from)
      if (const auto* found = look_up(data, key))
        return found;
  return nullptr;
}

const value* process_store::find(const target& x,
                                 const get_options& options) const {
  if (!x.key)
    return nullptr;
  if (!options.qualifiers.empty())
    return find_with_qualifiers(x, options);
  static const auto nothing = job{};
  const auto* found_job = find_job(x.proc.nspace);
  if (found_job == nullptr) {
    if (x.proc.nspace != self_.nspace)
      return nullptr;
    found_job = &nothing;
  }
  const auto& from = *found_job;
  const auto key = *x.key;
  const auto in = [&](const part* y) {
    return y != nullptr ? look_up(y->data, key) : nullptr;
  };
  const auto rank = x.proc.rank == rank_wildcard || x.proc.rank == rank_undef
                      ? self_.rank
                      : x.proc.rank;
  if (options.node_info)
    return in(node_of(from, rank, options));
  if (options.app_info)
    return in(app_of(from, rank, options));
  if (options.session_info)
    return in(session_of(from, options));
  if (x.proc.rank == rank_undef)
    return find_anywhere(from, x.proc, key);
  const auto level = level_of(key);
  if (x.proc.rank == rank_wildcard) {
    if (const auto* found = find_in_level(from, rank_wildcard, key, level))
      return found;
    return nullptr;
  }
  if (const auto* found = find_in_rank(from, x.proc, key, options.data_scope))
    return found;
  return is_reserved_key(key) ? find_in_level(from, x.proc.rank, key, level)
                              : nullptr;
}

/// Source: OpenPMIx 4.2: a value with at least the qualifiers that are asked
/// for; one without any does not count.
const value*
process_store::find_with_qualifiers(const target& x,
                                    const get_options& options) const {
  const auto is_any = x.proc.rank == rank_undef;
  if (x.proc == self_ || (is_any && x.proc.nspace == self_.nspace)) {
    const auto prefix = qualified_prefix(*x.key);
    for (auto i = posted_.lower_bound(prefix);
         i != posted_.end() && i->first.compare(0, prefix.size(), prefix) == 0;
         ++i)
      if (i->second.visible_to != scope::undef)
        if (const auto* y = match_qualifiers(i->second.val, options.qualifiers))
          return y;
  }
  const auto* from = find_job(x.proc.nspace);
  if (from == nullptr)
    return nullptr;
  if (x.proc.rank == rank_wildcard || is_any)
    if (const auto* y = find_qualified(from->data, *x.key, options.qualifiers))
      return y;
  if (is_any)
    unpack_all(*from);
  else
    unpack(*from, x.proc.rank);
  for (const auto* ranks : {&from->ranks, &from->fetched})
    for (const auto& [rank, data] : *ranks)
      if (is_any || rank == x.proc.rank)
        if (const auto* y = find_qualified(data, *x.key, options.qualifiers))
          return y;
  return nullptr;
}

/// The processes of a job on a node, where only their ranks were given.
/// Source: PMIx Standard v5, PMIX_LOCAL_PROCS.
std::optional<value>
process_store::make_local_procs(const job& from, const proc_id& whose,
                                const get_options& options) const {
  const auto rank = whose.rank <= rank_valid_max ? whose.rank : self_.rank;
  const auto* node = node_of(from, rank, options);
  const auto* name =
    node != nullptr ? text_in(node->data, attr::hostname) : nullptr;
  const auto* list =
    node != nullptr ? text_in(node->data, attr::local_peers) : nullptr;
  const auto is_here = node == nullptr || name == nullptr || *name == hostname_;
  if (list == nullptr && is_here && !options.hostname && !options.node_id)
    list = text_in(from.data, attr::local_peers);
  if (list == nullptr)
    return std::nullopt;
  auto procs = std::vector<proc_id>{};
  for (const auto local : ranks_in(*list))
    procs.push_back({whose.nspace, local});
  return value::procs(std::move(procs));
}

/// Makes what is kept nowhere: everything that is known of a process, or of a
/// level.
std::optional<value> process_store::make(const target& x,
                                         const get_options& options) const {
  if (x.key && !is_reserved_key(*x.key))
    return std::nullopt;
  const auto* from = find_job(x.proc.nspace);
  auto infos = std::vector<info>{};
  if (x.key) {
    // The whole of a level.
    if (from == nullptr)
      return std::nullopt;
    const auto& key = *x.key;
    if (key == attr::local_procs)
      return make_local_procs(*from, x.proc, options);
    const part* y = nullptr;
    if (key == attr::node_info_array)
      y = node_of(*from, x.proc.rank, options);
    else if (key == attr::app_info_array)
      y = app_of(*from, x.proc.rank, options);
    else if (key == attr::session_info_array)
      y = session_of(*from, options);
    else if (key == attr::job_info_array)
      append(from->data, infos);
    if (y != nullptr)
      append(y->data, infos);
  } else if (options.node_info || options.app_info || options.session_info) {
    if (from == nullptr)
      return std::nullopt;
    const auto* y = options.node_info  ? node_of(*from, x.proc.rank, options)
                    : options.app_info ? app_of(*from, x.proc.rank, options)
                                       : session_of(*from, options);
    if (y != nullptr)
      append(y->data, infos);
  } else if (x.proc.rank == rank_wildcard) {
    if (from != nullptr)
      append(from->data, infos);
  } else {
    if (from != nullptr)
      append(all_of(*from, x.proc.rank), infos);
    if (x.proc == self_)
      for (const auto& [key, y] : posted_)
        if (y.visible_to != scope::undef)
          infos.push_back(make_info(posted_key(key), y.val));
  }
  if (infos.empty())
    return std::nullopt;
  return value::infos(std::move(infos));
}

} // namespace troupe
