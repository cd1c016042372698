#include "actors/events/event_reader.hpp"

#include <algorithm>

namespace troupe {

// -- what is pending ---------------------------------------------------------

const event_reader::cursor* event_reader::find(status code) const {
  const auto i = cursors_.find(code);
  return i != cursors_.end() ? &i->second : nullptr;
}

/// Whether a registration that is in force asks for `what`.
bool event_reader::covers(const cursor* x, const event_entry& what) const {
  return x != nullptr && x->is_active
         && (what.is_kept || what.number > x->since);
}

/// The last that has been handed over of what is like `x`.
uint64_t event_reader::mark(const event_entry& x) const {
  const auto* of_code = find(x.code);
  const auto* rest = x.admits_default ? find(default_events) : nullptr;
  return std::max(of_code != nullptr ? of_code->handed : 0,
                  rest != nullptr ? rest->handed : 0);
}

bool event_reader::is_pending(const event_entry& x) const {
  const auto is_covered =
    covers(find(x.code), x)
    || (x.admits_default && covers(find(default_events), x));
  return is_covered && x.number > mark(x) && x.filter->admits(proc_);
}

bool event_reader::has_had(const event_entry& x) const {
  return x.number <= mark(x) && x.filter->admits(proc_);
}

std::set<status> event_reader::codes() const {
  auto result = std::set<status>{};
  for (const auto& [code, x] : cursors_)
    result.insert(code);
  return result;
}

bool event_reader::wants(status code) const {
  const auto* x = find(code);
  return x != nullptr && x->is_active;
}

// -- heads -------------------------------------------------------------------

void event_reader::set_head(status code, cursor& x, uint64_t head) {
  const auto place_of = [&](uint64_t number) {
    return std::lower_bound(heads_.begin(), heads_.end(),
                            std::pair{number, code});
  };
  if (x.head != 0)
    heads_.erase(place_of(x.head));
  x.head = head;
  if (head != 0)
    heads_.emplace(place_of(head), head, code);
}

/// Finds the first pending entry with a number above `after` that `x` asks for.
void event_reader::advance(status code, cursor& x, uint64_t after,
                           event_index& index) {
  const auto is_default = code == default_events;
  const auto following = [&](uint64_t n) {
    return is_default ? index.next(n) : index.next_of(code, n);
  };
  auto* next = following(after);
  while (next != nullptr
         && !((!is_default || next->admits_default) && covers(&x, *next)
              && is_pending(*next)))
    next = following(next->number);
  set_head(code, x, next != nullptr ? next->number : 0);
}

void event_reader::notice(const event_entry& x) {
  const auto raise = [&](status code) {
    const auto i = cursors_.find(code);
    if (i != cursors_.end() && i->second.head == 0 && covers(&i->second, x))
      set_head(code, i->second, x.number);
  };
  raise(x.code);
  if (x.admits_default)
    raise(default_events);
}

event_entry* event_reader::next(event_index& index) {
  while (!heads_.empty()) {
    const auto [number, code] = heads_.front();
    auto* x = index.find(number);
    if (x != nullptr && is_pending(*x))
      return x;
    advance(code, cursors_[code], number, index);
  }
  return nullptr;
}

void event_reader::hand(const event_entry& x, event_index& index) {
  const auto number = x.number;
  const auto move = [&](status code) {
    const auto i = cursors_.find(code);
    if (i == cursors_.end() || !i->second.is_active)
      return;
    auto& at = i->second;
    at.handed = std::max(at.handed, number);
    if (at.head != 0 && at.head <= number)
      advance(code, at, number, index);
  };
  const auto is_for_default = x.admits_default;
  in_flight_.insert(
    std::upper_bound(in_flight_.begin(), in_flight_.end(), number), number);
  move(x.code);
  if (is_for_default)
    move(default_events);
}

void event_reader::skip(uint64_t number, event_index& index) {
  const auto first = [&] {
    return std::lower_bound(heads_.begin(), heads_.end(),
                            std::pair{number, default_events});
  };
  for (auto i = first(); i != heads_.end() && i->first == number; i = first()) {
    const auto code = i->second;
    advance(code, cursors_[code], number, index);
  }
}

void event_reader::take(uint64_t number) {
  const auto i = std::lower_bound(in_flight_.begin(), in_flight_.end(), number);
  if (i != in_flight_.end() && *i == number)
    in_flight_.erase(i);
}

bool event_reader::is_in_flight(uint64_t number) const {
  return std::binary_search(in_flight_.begin(), in_flight_.end(), number);
}

// -- registrations -----------------------------------------------------------

/// Lets cursors of codes that are not registered any more go.
std::vector<status> event_reader::make_place(size_t limit) {
  auto result = std::vector<status>{};
  for (auto i = cursors_.begin(); i != cursors_.end();) {
    if (cursors_.size() < limit)
      break;
    if (i->second.is_active) {
      ++i;
      continue;
    }
    floor_ = std::max(floor_, i->second.handed);
    result.push_back(i->first);
    i = cursors_.erase(i);
  }
  return result;
}

std::vector<status> event_reader::add(status code, event_index& index,
                                      size_t limit,
                                      const visitor& begin_owing) {
  auto given_up = std::vector<status>{};
  if (cursors_.count(code) == 0) {
    given_up = make_place(limit);
    cursors_[code].handed = floor_;
  }
  auto& x = cursors_[code];
  if (x.is_active)
    return given_up;
  const auto is_default = code == default_events;
  const auto following = [&](uint64_t n) {
    return is_default ? index.next(n) : index.next_of(code, n);
  };
  auto others = std::vector<uint64_t>{};
  for (auto* y = following(x.handed); y != nullptr; y = following(y->number))
    if (!is_pending(*y))
      others.push_back(y->number);
  x.is_active = true;
  x.since = index.last();
  for (const auto number : others)
    if (auto* y = index.find(number); is_pending(*y))
      begin_owing(*y);
  advance(code, x, x.handed, index);
  return given_up;
}

void event_reader::remove(status code, event_index& index,
                          const visitor& cease_owing) {
  const auto i = cursors_.find(code);
  if (i == cursors_.end() || !i->second.is_active)
    return;
  auto& x = i->second;
  auto pending = std::vector<uint64_t>{};
  while (x.head != 0) {
    pending.push_back(x.head);
    advance(code, x, x.head, index);
  }
  x.is_active = false;
  for (const auto number : pending)
    if (auto* y = index.find(number); y != nullptr && !is_pending(*y))
      cease_owing(*y);
}

// -- gaps --------------------------------------------------------------------

void event_reader::note_drop(const event_entry& x, status counted_as) {
  if (has_had(x))
    ++accounted_[counted_as][x.admits_default ? 1 : 0];
}

void event_reader::miss(const event_entry& x,
                        std::optional<status> counted_as) {
  if (counted_as)
    ++accounted_[*counted_as][x.admits_default ? 1 : 0];
  untold_.add(1, x.number, x.number);
}

void event_reader::count_missed(status code, bool for_default,
                                const event_gaps& gaps) {
  const auto dropped = gaps.of(code, for_default, proc_.rank);
  if (dropped.count == 0)
    return;
  auto& known = accounted_[code][for_default ? 1 : 0];
  if (dropped.count <= known)
    return;
  const auto more = dropped.count - known;
  known = dropped.count;
  untold_.add(more, dropped.first, dropped.last);
}

void event_reader::count_missed(status code, const event_gaps& gaps) {
  if (code == default_events) {
    gaps.each_code([&](status x) { count_missed(x, true, gaps); });
    return;
  }
  count_missed(code, true, gaps);
  count_missed(code, false, gaps);
}

} // namespace troupe
