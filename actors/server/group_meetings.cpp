#include "actors/server/group_meetings.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

group_meetings::group_meetings(registry& known, effects out)
  : known_(known), out_(std::move(out)) {
  // nop
}

bool group_meetings::can_meet(const namespace_entry& entry) {
  return entry.is_local() && !entry.is_tool && entry.shares_memory();
}

void group_meetings::open(const std::string& nspace) {
  const auto* entry = known_.find(nspace);
  if (entry == nullptr || !can_meet(*entry))
    return;
  auto& x = meetings_[nspace];
  const auto is_usual = [&](const auto& y) {
    return y.second.is_tool || y.first == nspace || may_be_name_of_job(y.first);
  };
  const auto& all = known_.namespaces();
  if (!x.door.can_open() || out_.room(nspace) <= entry->memory->most_groups()
      || !std::all_of(all.begin(), all.end(), is_usual))
    return;
  entry->memory->open_groups(out_.next_number);
  x.door.open(entry->memory->group_rounds());
  x.made.clear();
}

void group_meetings::close(const std::string& nspace) {
  const auto i = meetings_.find(nspace);
  auto* entry = known_.find(nspace);
  if (i == meetings_.end() || !i->second.door.close() || entry == nullptr
      || !entry->memory)
    return;
  entry->memory->close_groups();
  take(nspace, i->second, *entry->memory);
}

void group_meetings::bar(const std::string& nspace) {
  close(nspace);
  meetings_[nspace].door.bar();
}

void group_meetings::note_end(const std::string& nspace,
                              const std::string& id) {
  if (const auto i = meetings_.find(nspace); i != meetings_.end())
    i->second.made.erase(id);
}

void group_meetings::note_namespace(const std::string& nspace) {
  if (may_be_name_of_job(nspace))
    return;
  for (const auto& [other, x] : meetings_)
    if (other != nspace)
      close(other);
}

void group_meetings::interrupt(const std::string& nspace) {
  const auto i = meetings_.find(nspace);
  const auto* entry = known_.find(nspace);
  if (i == meetings_.end() || !i->second.door.is_open() || entry == nullptr)
    return;
  close(nspace);
  i->second.door.note_question(entry->memory->group_rounds());
}

void group_meetings::take(const std::string& nspace, meeting& x,
                          job_memory& memory) {
  if (!memory.has_groups())
    return;
  const auto found = memory.take_groups(out_.next_number);
  if (found && carry_out(nspace, x, *found))
    return;
  memory.close_groups();
  x.door.bar();
}

bool group_meetings::carry_out(const std::string& nspace, meeting& x,
                               const std::vector<shared_group>& what) {
  // What is over already need not have been.
  auto over = std::vector<const shared_group*>{};
  auto fresh = std::vector<const shared_group*>{};
  for (const auto& y : what) {
    const auto is_sane =
      y.has_ended ? x.made.erase(y.id) > 0 : x.made.insert(y.id).second;
    if (!is_sane)
      return false;
    const auto made =
      std::find_if(fresh.begin(), fresh.end(),
                   [&](const shared_group* z) { return z->id == y.id; });
    if (!y.has_ended)
      fresh.push_back(&y);
    else if (made != fresh.end())
      fresh.erase(made);
    else
      over.push_back(&y);
  }
  for (const auto* y : over)
    out_.carry_out(nspace, *y);
  for (const auto* y : fresh)
    out_.carry_out(nspace, *y);
  return true;
}

void group_meetings::catch_up() {
  for (auto& [nspace, x] : meetings_) {
    auto* entry = known_.find(nspace);
    // What comes of a cell that we have closed is nonsense.
    if (!x.door.is_open() || entry == nullptr || !entry->memory)
      continue;
    take(nspace, x, *entry->memory);
    // Another one may be made by a message before the next look.
    if (x.door.is_open() && out_.room(nspace) <= entry->memory->most_groups())
      close(nspace);
  }
}

void group_meetings::forget(const std::string& nspace) {
  close(nspace);
  meetings_.erase(nspace);
}

} // namespace troupe
