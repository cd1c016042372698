#include "actors/server/group_meetings.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// Processes ask for groups whose names may be names of jobs of Troupe: these
/// have it.
bool is_known_to_clients(const std::string& nspace) {
  return nspace.find('@') != std::string::npos;
}

} // namespace

group_meetings::group_meetings(registry& known, effects out)
  : known_(known), out_(std::move(out)) {
  // nop
}

bool group_meetings::can_meet(const namespace_entry& entry) {
  return entry.memory && entry.is_local() && !entry.is_tool
         && std::all_of(entry.procs.begin(), entry.procs.end(),
                        [&](const auto& x) {
                          const auto& [rank, proc] = x;
                          return proc.posts_by != 0 && proc.connections == 1
                                 && !proc.is_gone() && entry.memory->has(rank);
                        });
}

void group_meetings::open(const std::string& nspace) {
  const auto* entry = known_.find(nspace);
  if (entry == nullptr || !can_meet(*entry))
    return;
  auto& x = meetings_[nspace];
  const auto is_usual = [&](const auto& y) {
    return y.second.is_tool || y.first == nspace
           || is_known_to_clients(y.first);
  };
  const auto& all = known_.namespaces();
  if (x.is_open || x.is_barred
      || out_.room(nspace) <= entry->memory->most_groups()
      || !std::all_of(all.begin(), all.end(), is_usual))
    return;
  entry->memory->open_groups(out_.next_number);
  x.is_open = true;
  x.rounds = entry->memory->group_rounds();
}

void group_meetings::close(const std::string& nspace) {
  const auto i = meetings_.find(nspace);
  auto* entry = known_.find(nspace);
  if (i == meetings_.end() || !std::exchange(i->second.is_open, false)
      || entry == nullptr || !entry->memory)
    return;
  entry->memory->close_groups();
  take(nspace, i->second, *entry->memory);
}

void group_meetings::bar(const std::string& nspace) {
  close(nspace);
  meetings_[nspace].is_barred = true;
}

void group_meetings::note_namespace(const std::string& nspace) {
  if (is_known_to_clients(nspace))
    return;
  for (const auto& [other, x] : meetings_)
    if (other != nspace)
      close(other);
}

void group_meetings::interrupt(const std::string& nspace) {
  const auto i = meetings_.find(nspace);
  const auto* entry = known_.find(nspace);
  if (i == meetings_.end() || !i->second.is_open || entry == nullptr)
    return;
  close(nspace);
  auto& x = i->second;
  x.vain = entry->memory->group_rounds() == x.rounds ? x.vain + 1 : 0;
  x.is_barred |= x.vain >= defaults::group_meetings_in_vain;
}

void group_meetings::take(const std::string& nspace, meeting& x,
                          job_memory& memory) {
  if (!memory.has_groups())
    return;
  const auto found = memory.take_groups(out_.next_number);
  if (!found) {
    x.is_open = false;
    x.is_barred = true;
    return;
  }
  // What is over already need not have been.
  auto fresh = std::vector<const shared_group*>{};
  for (const auto& y : *found) {
    const auto made =
      std::find_if(fresh.begin(), fresh.end(),
                   [&](const shared_group* z) { return z->id == y.id; });
    if (!y.has_ended)
      fresh.push_back(&y);
    else if (made != fresh.end())
      fresh.erase(made);
    else
      out_.carry_out(nspace, y);
  }
  for (const auto* y : fresh)
    out_.carry_out(nspace, *y);
}

void group_meetings::catch_up() {
  for (auto& [nspace, x] : meetings_) {
    auto* entry = known_.find(nspace);
    // What comes of a cell that we have closed is nonsense.
    if (!x.is_open || entry == nullptr || !entry->memory)
      continue;
    take(nspace, x, *entry->memory);
    // Another one may be made by a message before the next look.
    if (x.is_open && out_.room(nspace) <= entry->memory->most_groups())
      close(nspace);
  }
}

void group_meetings::forget(const std::string& nspace) {
  close(nspace);
  meetings_.erase(nspace);
}

} // namespace troupe
