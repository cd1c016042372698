#include "actors/events/event_shelf.hpp"

#include "config/defaults.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

const event_reader* event_shelf::reader(client_id id) const {
  const auto i = readers_.find(id);
  return i != readers_.end() ? &i->second : nullptr;
}

event_reader* event_shelf::find_reader(client_id id) {
  const auto i = readers_.find(id);
  return i != readers_.end() ? &i->second : nullptr;
}

void event_shelf::begin_owing(event_entry& x) {
  if (++x.owed > 1)
    return;
  ++owed_;
  on_owed(x);
}

void event_shelf::release(event_entry& x) {
  if (--x.owed > 0)
    return;
  --owed_;
  on_settled(x);
}

std::vector<event_shelf::client_id>
event_shelf::concerned(const event_entry& x) const {
  static const auto nobody = std::set<client_id>{};
  const auto those = [this](status code) -> const std::set<client_id>& {
    const auto i = by_code_.find(code);
    return i != by_code_.end() ? i->second : nobody;
  };
  const auto& of_code = those(x.code);
  const auto& of_all = those(default_events);
  auto result = std::vector<client_id>{};
  result.reserve(of_code.size() + of_all.size());
  std::set_union(of_code.begin(), of_code.end(), of_all.begin(), of_all.end(),
                 std::back_inserter(result));
  return result;
}

// -- events ------------------------------------------------------------------

std::vector<event_shelf::client_id> event_shelf::add(event_entry x) {
  auto result = std::vector<client_id>{};
  auto& entry = index_.append(std::move(x));
  for (const auto id : concerned(entry)) {
    ++considered_;
    auto& to = readers_.at(id);
    if (!to.is_pending(entry))
      continue;
    begin_owing(entry);
    to.notice(entry);
    result.push_back(id);
  }
  return result;
}

bool event_shelf::is_anybody_interested(const event_entry& x) const {
  for (const auto id : concerned(x))
    if (readers_.at(id).is_pending(x))
      return true;
  return false;
}

void event_shelf::erase(event_entry& x) {
  if (x.owed > 0)
    --owed_;
  on_erased(x);
  index_.erase(x.number);
}

void event_shelf::drop(event_entry& x) {
  const auto number = x.number;
  // What is not kept was never meant for those who come later.
  const auto counted_as =
    x.is_kept ? std::make_optional(gaps_.add(x)) : std::nullopt;
  auto waiting = std::vector<event_reader*>{};
  for (const auto id : concerned(x)) {
    auto& to = readers_.at(id);
    if (to.is_pending(x)) {
      to.miss(x, counted_as);
      waiting.push_back(&to);
    } else if (counted_as) {
      to.note_drop(x, *counted_as);
    }
  }
  erase(x);
  for (auto* to : waiting)
    to->skip(number, index_);
}

// -- readers -----------------------------------------------------------------

void event_shelf::subscribe(client_id id, const proc_id& proc,
                            const std::vector<status>& codes) {
  auto& to = readers_.try_emplace(id, proc).first->second;
  for (const auto code : codes) {
    if (to.wants(code))
      continue;
    const auto given_up =
      to.add(code, index_, defaults::event_codes_per_client + 1,
             [this](event_entry& x) { begin_owing(x); });
    for (const auto old : given_up)
      leave_code(old, id);
    by_code_[code].insert(id);
    want(code);
    to.count_missed(code, gaps_);
  }
}

void event_shelf::want(status code) {
  has_wanted_changed_ |= ++wanted_[code] == 1;
}

void event_shelf::want_no_more(status code) {
  const auto i = wanted_.find(code);
  if (--i->second > 0)
    return;
  wanted_.erase(i);
  has_wanted_changed_ = true;
}

std::optional<std::set<status>> event_shelf::take_wanted() {
  if (!std::exchange(has_wanted_changed_, false))
    return std::nullopt;
  auto result = std::set<status>{};
  for (const auto& [code, count] : wanted_)
    result.insert(code);
  return result;
}

void event_shelf::leave_code(status code, client_id id) {
  const auto i = by_code_.find(code);
  if (i == by_code_.end())
    return;
  i->second.erase(id);
  if (i->second.empty())
    by_code_.erase(i);
}

void event_shelf::unsubscribe(client_id id, const std::vector<status>& codes) {
  auto* to = find_reader(id);
  if (to == nullptr)
    return;
  for (const auto code : codes) {
    if (to->wants(code))
      want_no_more(code);
    to->remove(code, index_, [this](event_entry& x) { release(x); });
  }
}

event_entry* event_shelf::next(client_id id) {
  auto* to = find_reader(id);
  return to != nullptr ? to->next(index_) : nullptr;
}

void event_shelf::hand(client_id id, event_entry& x) {
  if (auto* to = find_reader(id))
    to->hand(x, index_);
}

missed_events event_shelf::take_missed(client_id id) {
  auto* to = find_reader(id);
  return to != nullptr ? to->take_missed() : missed_events{};
}

void event_shelf::remove_reader(client_id id) {
  auto* to = find_reader(id);
  if (to == nullptr)
    return;
  for (const auto number : to->in_flight())
    if (auto* x = index_.find(number))
      release(*x);
  while (auto* x = to->next(index_)) {
    to->hand(*x, index_);
    release(*x);
  }
  for (const auto code : to->codes()) {
    if (to->wants(code))
      want_no_more(code);
    leave_code(code, id);
  }
  readers_.erase(id);
}

} // namespace troupe
