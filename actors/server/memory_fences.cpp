#include "actors/server/memory_fences.hpp"

#include <algorithm>

namespace troupe {

std::optional<memory_fence> look_into(const job_memory& memory,
                                      job_memory::cell_number cell,
                                      std::string nspace,
                                      std::vector<uint32_t> ranks) {
  auto result = memory_fence{};
  result.round = memory.fences(cell);
  for (uint32_t place = 0; place < ranks.size(); ++place)
    if (!memory.has_arrived(cell, place))
      result.missing.push_back(ranks[place]);
  // What was seen of two rounds is of none.
  if (result.missing.empty() || result.missing.size() == ranks.size()
      || memory.fences(cell) != result.round)
    return std::nullopt;
  result.nspace = std::move(nspace);
  result.cell = cell;
  result.ranks = std::move(ranks);
  return result;
}

std::vector<wait_part>
memory_fences::take(const std::vector<memory_fence>& found, time now) {
  auto seen = std::map<place, sight>{};
  auto result = std::vector<wait_part>{};
  for (const auto& x : found) {
    const auto at = place{x.nspace, x.cell};
    const auto before = seen_.find(at);
    const auto is_same =
      before != seen_.end() && before->second.round == x.round;
    const auto since = is_same ? before->second.since : now;
    seen[at] = {x.round, since};
    auto procs = std::vector<proc_id>{};
    if (x.cell == job_memory::whole_job)
      procs.push_back({x.nspace, rank_wildcard});
    else
      for (const auto rank : x.ranks)
        procs.push_back({x.nspace, rank});
    auto& part = result.emplace_back();
    part.participants = participants_of(procs);
    part.size = x.ranks.size();
    part.missing = x.missing.size();
    part.joined = part.size - part.missing;
    for (const auto rank : x.missing)
      if (part.named.size() < defaults::waits_missing)
        part.named.push_back({x.nspace, rank});
    part.age =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - since);
    part.is_at_least = true;
  }
  seen_ = std::move(seen);
  return result;
}

} // namespace troupe
