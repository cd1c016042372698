#include "actors/monitors/monitor_table.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// A number that is free, or a new one.
template <class T>
uint32_t take_number(std::vector<T>& all, std::vector<uint32_t>& free) {
  if (free.empty()) {
    all.emplace_back();
    return static_cast<uint32_t>(all.size() - 1);
  }
  const auto result = free.back();
  free.pop_back();
  return result;
}

} // namespace

caf::error monitor_table::room(const proc_id& proc, size_t more,
                               monitor_method method) const {
  const auto is_update = [](monitor_method x) {
    return x == monitor_method::usage;
  };
  const auto wants_update = is_update(method);
  auto own = size_t{0};
  if (const auto known = find(proc))
    for (const auto x : processes_[*known].items)
      if (is_update(slots_[x].entry.method) == wants_update)
        ++own;
  const auto per_process =
    wants_update ? bounds_.updates_per_process : bounds_.per_process;
  const auto node = wants_update ? bounds_.updates : bounds_.node;
  const auto* what =
    wants_update ? " monitors of resources (L7)" : " monitors (L7)";
  if (own + more > per_process)
    return make_error(status::out_of_resource,
                      to_string(proc) + " asks for more than "
                        + std::to_string(per_process) + what + "; cancel some");
  if ((wants_update ? updates_ : size_ - updates_) + more > node)
    return make_error(status::out_of_resource, "the node has "
                                                 + std::to_string(node) + what
                                                 + "; cancel some");
  return {};
}

monitor_table::item monitor_table::add(const requester& who,
                                       monitor_entry what) {
  const auto x = take_number(slots_, free_slots_);
  auto known = by_proc_.find(who.proc);
  if (known == by_proc_.end()) {
    const auto process = take_number(processes_, free_processes_);
    processes_[process].proc = who.proc;
    processes_[process].creds = who.creds;
    known = by_proc_.emplace(who.proc, process).first;
  }
  auto& it = slots_[x];
  if (what.method == monitor_method::usage)
    ++updates_;
  it.entry = std::move(what);
  it.process = known->second;
  it.connection = who.index;
  processes_[it.process].items.push_back(x);
  ++size_;
  return x;
}

void monitor_table::remove(item x) {
  if (!holds(x))
    return;
  auto& it = slots_[x];
  auto& of = processes_[it.process];
  of.items.erase(std::find(of.items.begin(), of.items.end(), x));
  if (of.items.empty()) {
    by_proc_.erase(of.proc);
    of = {};
    free_processes_.push_back(it.process);
  }
  if (it.entry.method == monitor_method::usage)
    --updates_;
  it.entry = {};
  it.process = none;
  ++it.generation;
  free_slots_.push_back(x);
  --size_;
}

std::optional<uint32_t> monitor_table::find(const proc_id& proc) const {
  const auto i = by_proc_.find(proc);
  if (i == by_proc_.end())
    return std::nullopt;
  return i->second;
}

std::vector<monitor_table::item>
monitor_table::select(const proc_id& proc,
                      const std::optional<std::string>& id) const {
  const auto known = find(proc);
  if (!known)
    return {};
  auto result = processes_[*known].items;
  if (id)
    result.erase(
      std::remove_if(result.begin(), result.end(),
                     [&](item x) { return slots_[x].entry.id != *id; }),
      result.end());
  return result;
}

std::vector<monitor_table::item>
monitor_table::of_connection(const proc_id& proc, uint32_t index) const {
  auto result = select(proc);
  result.erase(
    std::remove_if(result.begin(), result.end(),
                   [&](item x) { return slots_[x].connection != index; }),
    result.end());
  return result;
}

std::vector<monitor_table::item>
monitor_table::of_nspace(const std::string& nspace) const {
  auto result = std::vector<item>{};
  for (auto i = by_proc_.lower_bound({nspace, 0});
       i != by_proc_.end() && i->first.nspace == nspace; ++i) {
    const auto& items = processes_[i->second].items;
    result.insert(result.end(), items.begin(), items.end());
  }
  return result;
}

std::vector<monitor_table::item> monitor_table::all() const {
  auto result = std::vector<item>{};
  for (item x = 0; x < slots_.size(); ++x)
    if (holds(x))
      result.push_back(x);
  return result;
}

std::optional<monitor_table::item>
monitor_table::item_of(uint64_t number) const {
  const auto x = static_cast<item>(number & UINT32_MAX);
  if (!holds(x) || slots_[x].generation != number >> 32)
    return std::nullopt;
  return x;
}

} // namespace troupe
