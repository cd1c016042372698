#include "actors/server/part_meetings.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

// -- which part it is --

std::optional<part_meetings::ranks>
part_meetings::ranks_of(const std::vector<proc_id>& procs) {
  auto result = ranks{};
  result.reserve(procs.size());
  for (const auto& proc : procs) {
    if (proc.rank > rank_valid_max || proc.nspace != procs.front().nspace)
      return std::nullopt;
    result.push_back(proc.rank);
  }
  if (result.empty())
    return std::nullopt;
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

part_meetings::part* part_meetings::find(const std::vector<proc_id>& procs) {
  const auto i = procs.empty() ? jobs_.end() : jobs_.find(procs.front().nspace);
  if (i == jobs_.end())
    return nullptr;
  const auto who = ranks_of(procs);
  if (!who)
    return nullptr;
  const auto x = i->second.parts.find(*who);
  return x != i->second.parts.end() ? &x->second : nullptr;
}

job_memory* part_meetings::memory_of(const std::string& nspace) const {
  const auto* entry = known_.find(nspace);
  return entry != nullptr ? entry->memory.get() : nullptr;
}

bool part_meetings::can_meet(const namespace_entry& entry, const ranks& who) {
  return std::all_of(who.begin(), who.end(),
                     [&](uint32_t rank) { return entry.shares_memory(rank); });
}

bool part_meetings::may_meet(const std::vector<proc_id>& procs) const {
  const auto* entry =
    procs.empty() ? nullptr : known_.find(procs.front().nspace);
  return entry != nullptr && entry->memory
         && procs.size() <= entry->procs.size();
}

size_t part_meetings::size() const {
  auto result = size_t{0};
  for (const auto& [nspace, x] : jobs_)
    result += x.parts.size();
  return result;
}

uint64_t part_meetings::fences() const {
  auto result = uint64_t{0};
  for (const auto& [nspace, of] : jobs_)
    if (const auto* memory = memory_of(nspace))
      for (const auto& [unused, x] : of.parts)
        result += x.cell ? memory->fences(*x.cell) : 0;
  return result;
}

std::vector<memory_fence> part_meetings::waits() const {
  auto result = std::vector<memory_fence>{};
  for (const auto& [nspace, of] : jobs_)
    if (const auto* memory = memory_of(nspace))
      for (const auto& [who, x] : of.parts)
        if (x.cell && x.door.is_open())
          if (auto found = look_into(*memory, *x.cell, nspace, who))
            result.push_back(std::move(*found));
  return result;
}

// -- its cell --

void part_meetings::drop_cell(part& x, job_memory* memory) {
  if (x.cell && memory != nullptr)
    memory->remove_cell(*x.cell);
  x.cell = std::nullopt;
  x.door.close();
}

std::optional<job_memory::cell_number>
part_meetings::get_cell(job& of, const ranks& who, job_memory& memory) {
  if (auto free = memory.add_cell(who))
    return free;
  part* idlest = nullptr;
  for (auto& [unused, x] : of.parts) {
    if (!x.cell)
      continue;
    const auto rounds = memory.fences(*x.cell);
    x.idle = rounds == x.looked_at ? x.idle + 1 : 0;
    x.looked_at = rounds;
    // Those who wait in one that is closed are about to ask.
    if (x.idle >= defaults::looks_at_idle_cell
        && !(x.door.is_open() && memory.has_arrivals(*x.cell))
        && (idlest == nullptr || x.idle > idlest->idle))
      idlest = &x;
  }
  if (idlest == nullptr)
    return std::nullopt;
  drop_cell(*idlest, &memory);
  return memory.add_cell(who);
}

void part_meetings::make_room(job& in) {
  while (in.parts.size() >= defaults::parts_remembered) {
    auto oldest = in.parts.end();
    for (auto i = in.parts.begin(); i != in.parts.end(); ++i)
      if (!i->second.cell
          && (oldest == in.parts.end() || i->second.last < oldest->second.last))
        oldest = i;
    if (oldest == in.parts.end())
      return;
    in.parts.erase(oldest);
  }
}

void part_meetings::note(const std::vector<proc_id>& procs) {
  const auto who = ranks_of(procs);
  const auto* entry = who ? known_.find(procs.front().nspace) : nullptr;
  if (entry == nullptr || !can_meet(*entry, *who))
    return;
  auto& of = jobs_[procs.front().nspace];
  if (of.is_barred)
    return;
  auto i = of.parts.find(*who);
  if (i == of.parts.end()) {
    make_room(of);
    i = of.parts.emplace(*who, part{}).first;
  }
  auto& x = i->second;
  x.last = ++of.clock;
  x.departed.clear();
  if (!x.door.can_open() || ++x.seen < defaults::fences_before_cell)
    return;
  if (!x.cell) {
    x.cell = get_cell(of, *who, *entry->memory);
    x.idle = 0;
  }
  if (!x.cell || !entry->memory->open_fences(*x.cell))
    return;
  x.looked_at = entry->memory->fences(*x.cell);
  x.door.open(x.looked_at);
}

// -- who asks us --

void part_meetings::interrupt(const std::vector<proc_id>& procs,
                              bool has_arrived) {
  auto* x = find(procs);
  auto* memory = x != nullptr ? memory_of(procs.front().nspace) : nullptr;
  if (memory == nullptr || !x->door.close())
    return;
  memory->close_fences(*x->cell);
  if (has_arrived)
    return;
  x->door.note_question(memory->fences(*x->cell));
  if (!x->door.can_open())
    drop_cell(*x, memory);
}

std::vector<proc_id>
part_meetings::take_departed(const std::vector<proc_id>& procs) {
  auto* x = find(procs);
  return x != nullptr ? std::exchange(x->departed, {}) : std::vector<proc_id>{};
}

void part_meetings::release(const std::vector<proc_id>& procs) {
  if (auto* x = find(procs)) {
    drop_cell(*x, memory_of(procs.front().nspace));
    x->seen = 0;
  }
}

// -- how it ends --

void part_meetings::leave(const proc_id& proc) {
  auto* memory = memory_of(proc.nspace);
  if (memory == nullptr)
    return;
  if (const auto i = jobs_.find(proc.nspace); i != jobs_.end())
    for (auto& [who, x] : i->second.parts) {
      if (!x.cell || !std::binary_search(who.begin(), who.end(), proc.rank))
        continue;
      if (x.door.close() && memory->close_fences(*x.cell))
        x.departed.push_back(proc);
      drop_cell(x, memory);
    }
  if (const auto* local = known_.find_local(proc);
      local != nullptr && local->is_gone())
    memory->leave_cells(proc.rank);
}

void part_meetings::bar(const std::string& nspace) {
  auto& of = jobs_[nspace];
  for (auto& [unused, x] : of.parts)
    drop_cell(x, memory_of(nspace));
  of.parts.clear();
  of.is_barred = true;
}

void part_meetings::forget(const std::string& nspace) {
  const auto i = jobs_.find(nspace);
  if (i == jobs_.end())
    return;
  for (auto& [unused, x] : i->second.parts)
    drop_cell(x, memory_of(nspace));
  jobs_.erase(i);
}

} // namespace troupe
