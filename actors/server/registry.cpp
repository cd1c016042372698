#include "actors/server/registry.hpp"

#include "actors/jobs/process_sets.hpp"
#include "base/make_info.hpp"
#include "base/ranks_named.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// Why a namespace may not have this name, if so.
caf::error name_refusal(const std::string& nspace) {
  if (nspace.empty() || nspace.size() > max_nspace_length)
    return make_error(status::bad_param, "a namespace has 1 to 255 bytes, not "
                                           + std::to_string(nspace.size())
                                           + "; choose another name");
  return {};
}

} // namespace

bool namespace_entry::shares_memory(uint32_t rank) const {
  const auto x = procs.find(rank);
  return memory != nullptr && x != procs.end() && x->second.posts_by != 0
         && x->second.connections == 1 && !x->second.is_gone()
         && memory->has(rank);
}

bool namespace_entry::shares_memory() const {
  return std::all_of(procs.begin(), procs.end(),
                     [this](const auto& x) { return shares_memory(x.first); });
}

void tell_unshared(namespace_entry& entry, const std::string& nspace,
                   const std::string& why, const journal& log) {
  if (std::exchange(entry.has_told_unshared, true) || !log)
    return;
  log(severity::warning, "processes of " + nspace
                           + " share no memory with the server, but ask by"
                             " their connections: "
                           + why);
}

registry::registry(const datastore::limits& bounds,
                   std::shared_ptr<registrations> counts, effects out)
  : bounds_(bounds), counts_(std::move(counts)), out_(std::move(out)) {
  // nop
}

// -- namespaces and processes --

caf::error registry::add(register_nspace& request) {
  if (auto why = name_refusal(request.nspace))
    return why;
  auto* known = find(request.nspace);
  if (known != nullptr && known->is_foreign) {
    namespaces_.erase(request.nspace);
    known = nullptr;
  }
  if (known != nullptr && !known->is_provisional && !request.clients_follow)
    return make_error(
      status::exists,
      "namespace " + request.nspace
        + " is registered already; deregister it, or choose another name");
  auto infos = std::move(request.infos);
  for (const auto& x : resources_)
    if (troupe::find(infos, x.key) == nullptr)
      infos.push_back(x);
  auto data = job_data{request.nspace, infos};
  if (known != nullptr) {
    complete(*known, std::move(data), request);
    await_interest(request.nspace, *known);
    return {};
  }
  auto& entry = add(request.nspace, request.owner, std::move(data));
  for (const auto rank : request.local_ranks)
    entry.procs[rank].may_connect = !request.clients_follow;
  for (auto& [rank, proc] : entry.procs)
    await(entry, proc);
  counts_->total += entry.procs.size();
  await_interest(request.nspace, entry);
  return {};
}

caf::error registry::add(const register_client& request) {
  const auto& [nspace, rank] = request.proc;
  if (auto why = name_refusal(nspace))
    return why;
  if (rank > rank_valid_max)
    return make_error(status::bad_param,
                      to_string(request.proc)
                        + " names no single process; give its rank");
  auto* entry = find(nspace);
  if (entry == nullptr) {
    entry = &add(nspace, {}, {});
    entry->is_provisional = true;
  }
  const auto is_first =
    std::none_of(entry->procs.begin(), entry->procs.end(),
                 [](const auto& x) { return x.second.may_connect; });
  if (is_first)
    entry->owner = request.owner;
  else if (entry->owner.uid != request.owner.uid)
    return make_error(status::bad_param,
                      "namespace " + nspace + " is user "
                        + std::to_string(entry->owner.uid) + "'s, not user "
                        + std::to_string(request.owner.uid)
                        + "'s; register its processes for that user");
  const auto [i, is_new] = entry->procs.try_emplace(rank);
  if (!is_new && i->second.is_gone())
    i->second = local_proc{}; // It is started anew.
  i->second.may_connect = true;
  await(*entry, i->second);
  if (is_new)
    ++counts_->total;
  out_.expect(expect_procs{nspace, {rank}, entry->is_local()});
  return {};
}

namespace_entry& registry::add(const std::string& nspace,
                               const credentials& owner, job_data data) {
  auto entry = namespace_entry{bounds_};
  entry.owner = owner;
  entry.data = std::move(data);
  return namespaces_.emplace(nspace, std::move(entry)).first->second;
}

void registry::forget(const std::string& nspace) {
  namespaces_.erase(nspace);
}

namespace_entry* registry::find(const std::string& nspace) {
  const auto i = namespaces_.find(nspace);
  return i != namespaces_.end() ? &i->second : nullptr;
}

const namespace_entry* registry::find(const std::string& nspace) const {
  const auto i = namespaces_.find(nspace);
  return i != namespaces_.end() ? &i->second : nullptr;
}

local_proc* registry::find_local(const proc_id& proc) {
  auto* entry = find(proc.nspace);
  if (entry == nullptr)
    return nullptr;
  const auto i = entry->procs.find(proc.rank);
  return i != entry->procs.end() ? &i->second : nullptr;
}

const local_proc* registry::find_local(const proc_id& proc) const {
  return const_cast<registry*>(this)->find_local(proc);
}

void registry::stop_awaiting(const proc_id& proc) {
  auto* known = find_local(proc);
  if (known == nullptr || !std::exchange(known->is_awaited, false))
    return;
  const auto i = counts_->awaited.find(find(proc.nspace)->owner.uid);
  if (--i->second == 0)
    counts_->awaited.erase(i);
}

void registry::stop_counting(const namespace_entry& entry) {
  if (!entry.is_tool)
    counts_->total -= entry.procs.size();
}

void registry::await(const namespace_entry& entry, local_proc& proc) {
  if (proc.may_connect && !std::exchange(proc.is_awaited, true))
    ++counts_->awaited[entry.owner.uid];
}

void registry::await_interest(const std::string& nspace,
                              const namespace_entry& entry) {
  auto what = expect_procs{nspace, {}, entry.is_local()};
  for (const auto& [rank, proc] : entry.procs)
    if (!proc.is_gone())
      what.ranks.push_back(rank);
  out_.expect(std::move(what));
}

void registry::complete(namespace_entry& entry, job_data data,
                        const register_nspace& request) {
  entry.is_provisional = false;
  entry.data = std::move(data);
  for (const auto rank : request.local_ranks) {
    const auto [i, is_new] = entry.procs.try_emplace(rank);
    if (!is_new)
      continue;
    i->second.may_connect = !request.clients_follow;
    await(entry, i->second);
    ++counts_->total;
  }
}

// -- resources and process sets --

caf::error registry::add_resources(register_resources& request) {
  for (auto& x : request.infos) {
    const auto i =
      std::find_if(resources_.begin(), resources_.end(), [&](const info& y) {
        return x.key == y.key && x.key.find("array") == std::string::npos;
      });
    if (i != resources_.end())
      *i = std::move(x);
    else if (resources_.size() < defaults::resources)
      resources_.push_back(std::move(x));
    else
      return make_error(status::out_of_resource,
                        "more than " + std::to_string(defaults::resources)
                          + " resources registered; deregister some");
  }
  return {};
}

void registry::remove_resources(const deregister_resources& request) {
  for (const auto& x : request.infos)
    resources_.erase(
      std::remove_if(resources_.begin(), resources_.end(),
                     [&](const info& y) { return x.key == y.key; }),
      resources_.end());
}

caf::error registry::define_set(define_process_set& request) {
  if (auto why = set_name_refusal(request.name))
    return why;
  if (request.members.empty())
    return make_error(status::bad_param, "process set " + request.name
                                           + " has no members; name some");
  auto& sets = process_sets_;
  const auto known = sets.find(request.name);
  if (known != sets.end() && known->second == request.members)
    return {};
  if (sets.size() >= defaults::process_sets && known == sets.end())
    return make_error(status::out_of_resource,
                      "more than " + std::to_string(defaults::process_sets)
                        + " process sets; end jobs that have some");
  out_.announce(status::process_set_define,
                {make_info(attr::pset_name, value::string(request.name)),
                 make_info(attr::pset_members, value::procs(request.members))});
  sets[request.name] = std::move(request.members);
  return {};
}

caf::error registry::delete_set(const delete_process_set& request) {
  if (process_sets_.erase(request.name) == 0)
    return make_error(status::not_found, "there is no process set "
                                           + request.name
                                           + "; name one that was defined");
  out_.announce(status::process_set_delete,
                {make_info(attr::pset_name, value::string(request.name))});
  return {};
}

// -- lists of processes --

caf::expected<uint64_t>
registry::count_named(const std::vector<proc_id>& procs) const {
  auto result = uint64_t{0};
  // There may be 60,000 of one job: it is looked up once.
  const std::string* nspace = nullptr;
  auto size = std::optional<uint32_t>{};
  for (const auto& proc : procs) {
    if (nspace == nullptr || *nspace != proc.nspace) {
      const auto* entry = find(proc.nspace);
      if (entry == nullptr)
        return make_error(status::invalid_namespace,
                          "no namespace " + proc.nspace);
      nspace = &proc.nspace;
      size = entry->data.job_size();
    }
    if (proc.rank == rank_wildcard) {
      result += size.value_or(1);
      continue;
    }
    if (proc.rank > rank_valid_max || (size && proc.rank >= *size))
      return make_error(status::bad_param,
                        "namespace " + proc.nspace + " has no rank "
                          + std::to_string(proc.rank)
                          + "; register it with its processes");
    ++result;
  }
  return result;
}

std::vector<proc_id>
registry::canonical(const std::vector<proc_id>& procs) const {
  if (procs.size() == 1)
    return procs;
  auto result = std::vector<proc_id>{};
  for (const auto& [nspace, members] : ranks_named(procs)) {
    const auto* entry = find(nspace);
    const auto size = entry != nullptr ? entry->data.job_size() : std::nullopt;
    if (std::binary_search(members.begin(), members.end(), rank_wildcard)
        || (size && *size == members.size()))
      result.push_back({nspace, rank_wildcard});
    else
      for (const auto rank : members)
        result.push_back({nspace, rank});
  }
  return result;
}

std::vector<proc_id>
registry::spelt_out(const std::vector<proc_id>& procs) const {
  auto result = std::vector<proc_id>{};
  for (const auto& [nspace, ranks] : ranks_named(procs)) {
    const auto* entry = find(nspace);
    for (const auto named : ranks) {
      if (named != rank_wildcard) {
        result.push_back({nspace, named});
      } else if (const auto size =
                   entry != nullptr ? entry->data.job_size() : std::nullopt) {
        for (uint32_t rank = 0; rank < *size; ++rank)
          result.push_back({nspace, rank});
      } else if (entry != nullptr) {
        for (const auto& [rank, unused] : entry->procs)
          result.push_back({nspace, rank});
      }
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::set<proc_id>
registry::local_among(const std::vector<proc_id>& procs) const {
  auto result = std::set<proc_id>{};
  for (const auto& proc : procs) {
    const auto* entry = find(proc.nspace);
    if (entry == nullptr)
      continue;
    if (proc.rank == rank_wildcard) {
      for (const auto& [rank, unused] : entry->procs)
        result.insert({proc.nspace, rank});
    } else if (entry->procs.count(proc.rank) > 0) {
      result.insert(proc);
    }
  }
  return result;
}

bool registry::are_local(const std::vector<proc_id>& procs) const {
  return std::all_of(procs.begin(), procs.end(), [&](const proc_id& proc) {
    const auto* entry = find(proc.nspace);
    return entry != nullptr
           && (entry->is_local() || entry->procs.count(proc.rank) > 0);
  });
}

} // namespace troupe
