// Which key is found where.

#include "actors/data/process_store.hpp"
#include "actors/data/process_store_entries.hpp"
#include "actors/data/qualified_value.hpp"
#include "messages/attributes.hpp"

#include <utility>

namespace troupe {

namespace {

template <class Entries>
void append(const Entries& from, std::vector<info>& to) {
  for (const auto& [key, val] : from)
    to.push_back({std::string{posted_key(key)}, 0, val});
}

} // namespace

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
  if (const auto i = x.ranks.find(rank); i != x.ranks.end()) {
    if (const auto* name = text_in(i->second, attr::hostname))
      if (const auto* found = named(*name))
        return found;
    if (const auto id = number_in<uint32_t>(i->second, attr::nodeid))
      return numbered(*id);
  }
  return named(hostname_);
}

const process_store::part*
process_store::app_of(const job& x, uint32_t rank,
                      const get_options& options) const {
  auto wanted = options.app_number;
  if (!wanted)
    if (const auto i = x.ranks.find(rank); i != x.ranks.end())
      wanted = number_in<uint32_t>(i->second, attr::appnum);
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
        i != posted_.end()
        && (wanted == scope::undef || wanted == i->second.visible_to))
      return &i->second.val;
    if (wanted != scope::undef && !is_reserved_key(key))
      return nullptr;
  }
  const auto i = x.ranks.find(proc.rank);
  return i != x.ranks.end() ? look_up(i->second, key) : nullptr;
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
  for (const auto& [rank, data] : x.ranks)
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
      if (const auto* y = match_qualifiers(i->second.val, options.qualifiers))
        return y;
  }
  const auto* from = find_job(x.proc.nspace);
  if (from == nullptr)
    return nullptr;
  if (x.proc.rank == rank_wildcard || is_any)
    if (const auto* y = find_qualified(from->data, *x.key, options.qualifiers))
      return y;
  for (const auto& [rank, data] : from->ranks)
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
      if (const auto i = from->ranks.find(x.proc.rank); i != from->ranks.end())
        append(i->second, infos);
    if (x.proc == self_)
      for (const auto& [key, y] : posted_)
        infos.push_back({std::string{posted_key(key)}, 0, y.val});
  }
  if (infos.empty())
    return std::nullopt;
  return value::infos(std::move(infos));
}

} // namespace troupe
