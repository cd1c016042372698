#include "actors/server/collective_table.hpp"

#include "messages/event_order.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

collective_table::signature
collective_table::signature_of(collective_kind kind,
                               std::vector<proc_id> procs) {
  std::sort(procs.begin(), procs.end());
  procs.erase(std::unique(procs.begin(), procs.end()), procs.end());
  auto result = std::to_string(static_cast<int>(kind));
  for (const auto& proc : procs) {
    result += '\n'; // In no namespace: they are printable.
    result += proc.nspace;
    result += ':';
    result += std::to_string(proc.rank);
  }
  return result;
}

std::pair<collective_table::operation*, bool>
collective_table::join(collective_kind kind, const proc_id& caller,
                       const std::vector<proc_id>& procs,
                       const std::function<std::set<proc_id>()>& expected,
                       const std::function<bool()>& is_counted,
                       const std::optional<group_key>& group) {
  auto k = signature_of(kind, procs);
  if (group)
    k += ending_of(*group);
  for (const auto id : open_[k]) {
    auto& candidate = operations_.at(id);
    if (candidate.members.join(caller))
      return {&candidate, false};
  }
  auto& created = create(std::move(k), kind, procs, expected(),
                         is_counted && is_counted(), group);
  created.members.join(caller);
  return {&created, true};
}

collective_table::operation&
collective_table::begin_joined(collective_kind kind,
                               const std::vector<proc_id>& procs,
                               std::set<proc_id> here) {
  auto& created = create(signature_of(kind, procs), kind, procs,
                         std::move(here), true, std::nullopt);
  created.members.join_all();
  return created;
}

collective_table::operation&
collective_table::create(signature k, collective_kind kind,
                         const std::vector<proc_id>& procs,
                         std::set<proc_id> here, bool is_counted,
                         const std::optional<group_key>& group) {
  const auto id = next_id_++;
  auto& result =
    operations_
      .emplace(id, operation{id, kind, procs, joiners{std::move(here)}})
      .first->second;
  if (is_counted)
    result.generation =
      ++counts_[k] | (group ? uint64_t{salt_of(*group)} << 32 : 0);
  result.group = group;
  open_[k].push_back(id);
  signatures_.emplace(id, std::move(k));
  return result;
}

collective_table::operation* collective_table::find(uint64_t id) {
  const auto i = operations_.find(id);
  return i != operations_.end() ? &i->second : nullptr;
}

bool collective_table::has_fence(const std::vector<proc_id>& procs) const {
  const auto i = open_.find(signature_of(collective_kind::fence, procs));
  return i != open_.end() && !i->second.empty();
}

collective_table::operation*
collective_table::join_reduced(const group_key& group, const proc_id& caller) {
  for (auto& [id, x] : operations_)
    if (x.is_reduced && x.group == group && x.members.join(caller))
      return &x;
  return nullptr;
}

collective_table::reduced
collective_table::reduce(const group_key& group,
                         const std::vector<proc_id>& departed) {
  auto result = reduced{};
  for (auto& [id, x] : operations_) {
    if (!(x.group == group) || x.failed)
      continue;
    x.is_reduced = x.is_fault_tolerant;
    auto is_hit = false;
    for (const auto& proc : departed)
      is_hit |= x.members.drop(proc);
    if (is_hit)
      (x.is_fault_tolerant ? result.remaining : result.failing).push_back(id);
  }
  return result;
}

void collective_table::forget(const group_key& group) {
  const auto name = ending_of(group);
  for (auto i = counts_.begin(); i != counts_.end();) {
    const auto& k = i->first;
    const auto is_of =
      k.size() > name.size()
      && k.compare(k.size() - name.size(), name.size(), name) == 0;
    i = is_of ? counts_.erase(i) : std::next(i);
  }
}

std::string collective_table::ending_of(const group_key& group) {
  return '\n' + log_name(group);
}

uint32_t collective_table::salt_of(const group_key& group) {
  auto result = uint32_t{2166136261u};
  for (const auto c : log_name(group))
    result = (result ^ static_cast<uint8_t>(c)) * 16777619u;
  return result | 1;
}

void collective_table::retire(uint64_t id) {
  const auto k = signatures_.find(id);
  if (k == signatures_.end())
    return;
  const auto open = open_.find(k->second);
  auto& ids = open->second;
  ids.erase(std::remove(ids.begin(), ids.end(), id), ids.end());
  if (ids.empty())
    open_.erase(open);
  signatures_.erase(k);
  operations_.erase(id);
}

void collective_table::forget(const std::string& nspace) {
  const auto name = '\n' + nspace + ':';
  for (auto i = counts_.begin(); i != counts_.end();)
    i = i->first.find(name) != std::string::npos ? counts_.erase(i)
                                                 : std::next(i);
}

std::vector<collective_table::operation*>
collective_table::drop(const proc_id& proc) {
  auto result = std::vector<operation*>{};
  for (auto& [id, x] : operations_)
    if (x.members.drop(proc))
      result.push_back(&x);
  return result;
}

void collective_table::renew(const proc_id& proc) {
  for (auto& [id, x] : operations_)
    if (!x.failed && !x.members.is_settled())
      x.members.renew(proc);
}

std::vector<uint64_t> collective_table::incomplete() const {
  auto result = std::vector<uint64_t>{};
  for (const auto& [id, x] : operations_)
    if (x.generation > 0 && !x.failed && !x.is_given_up
        && !x.members.is_settled())
      result.push_back(id);
  return result;
}

std::vector<const collective_table::operation*> collective_table::list() const {
  auto result = std::vector<const operation*>{};
  for (const auto& [id, x] : operations_)
    result.push_back(&x);
  return result;
}

} // namespace troupe
