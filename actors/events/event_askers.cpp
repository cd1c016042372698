#include "actors/events/event_askers.hpp"

#include "base/make_info.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

event make_copy_for_askers(event what, const std::vector<std::string>& told) {
  auto procs = std::vector<proc_id>{};
  for (const auto& nspace : told)
    procs.push_back({nspace, rank_wildcard});
  return make_copy_for_askers(std::move(what), std::move(procs));
}

event make_copy_for_askers(event what, std::vector<proc_id> told) {
  what.infos.push_back(
    make_info(event_told_key, value::procs(std::move(told))));
  return what;
}

bool event_askers::asks(const proc_id& who,
                        const std::vector<info>& directives) {
  const auto range = number<uint8_t>(directives, attr::range);
  if (range == static_cast<uint8_t>(data_range::session)
      || range == static_cast<uint8_t>(data_range::global))
    return true;
  for (const auto key : {attr::event_affected_proc, attr::event_affected_procs})
    if (const auto* x = find(directives, key))
      for (const auto& proc : procs_of(*x))
        if (proc.nspace != who.nspace)
          return true;
  return false;
}

void event_askers::add(uint32_t index, const proc_id& who,
                       const std::vector<status>& codes) {
  auto& x = all_[index];
  x.who = who;
  if (codes.empty())
    x.codes.insert(default_events);
  x.codes.insert(codes.begin(), codes.end());
}

void event_askers::remove(uint32_t index, const std::vector<status>& codes) {
  const auto i = all_.find(index);
  if (i == all_.end())
    return;
  for (const auto code : codes)
    i->second.codes.erase(code);
  if (i->second.codes.empty())
    all_.erase(i);
}

std::set<status> event_askers::codes() const {
  auto result = std::set<status>{};
  for (const auto& [index, x] : all_)
    result.insert(x.codes.begin(), x.codes.end());
  return result;
}

bool event_askers::is_copy(const event& what) {
  return what.source.nspace.empty()
         && find(what.infos, event_told_key) != nullptr;
}

std::vector<proc_id> event_askers::unwrap(event& what) const {
  auto told = std::vector<proc_id>{};
  if (const auto* x = find(what.infos, event_told_key))
    told = procs_of(*x);
  auto& infos = what.infos;
  infos.erase(
    std::remove_if(infos.begin(), infos.end(),
                   [](const info& x) { return x.key == event_told_key; }),
    infos.end());
  auto result = std::vector<proc_id>{};
  for (const auto& [index, x] : all_) {
    const auto& who = x.who;
    const auto wants =
      x.codes.count(what.code) > 0 || x.codes.count(default_events) > 0;
    const auto knows =
      std::any_of(told.begin(), told.end(),
                  [&](const proc_id& y) { return matches(y, who); });
    if (wants && !knows
        && std::find(result.begin(), result.end(), who) == result.end())
      result.push_back(who);
  }
  return result;
}

} // namespace troupe
