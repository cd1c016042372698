#include "actors/events/event_shelf.hpp"

#include "actors/data/datastore.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace troupe {

namespace defaults {

/// Codes, and ranks for each, for which a log counts exactly what it dropped.
inline constexpr size_t event_gap_codes = 4096;
inline constexpr size_t event_gap_ranks = 65536;

} // namespace defaults

namespace {

/// Entry, indexes and the structure of an event, about; while it is bytes, also
/// those of other logs that share them.
constexpr size_t event_overhead = 256;
constexpr size_t info_overhead = 96;

/// Dead entries that are not worth a clean-up.
constexpr size_t few = 64;

} // namespace

size_t cost_of(const event& x) {
  auto result = event_overhead;
  for (const auto& y : x.infos)
    result += info_overhead + y.key.size() + size_of(y.val);
  return result;
}

size_t cost_of(const kept_event& x) {
  return event_overhead + x.size();
}

std::string row_of(const event& x) {
  if (!x.source.nspace.empty())
    return {};
  const auto code = std::to_string(static_cast<int32_t>(x.code)) + ' ';
  if (const auto* y = find(x.infos, attr::event_affected_proc))
    if (const auto* proc = y->proc())
      return code + to_string(*proc);
  if (const auto node = text(x.infos, attr::hostname))
    return code + *node;
  return {};
}

event_entry& event_index::append(event_entry x) {
  tidy();
  last_ = x.number;
  auto& list = codes_[x.code];
  list.numbers.insert(x.number);
  ++list.count;
  ++alive_;
  return entries_.emplace_back(std::move(x));
}

std::deque<event_entry>::iterator event_index::place_of(uint64_t number) {
  // Mostly there are no gaps in the numbers.
  if (!entries_.empty() && number >= entries_.front().number) {
    const auto guess = number - entries_.front().number;
    if (guess < entries_.size() && entries_[guess].number == number)
      return entries_.begin() + static_cast<std::ptrdiff_t>(guess);
  }
  return std::lower_bound(
    entries_.begin(), entries_.end(), number,
    [](const event_entry& x, uint64_t n) { return x.number < n; });
}

event_entry* event_index::find(uint64_t number) {
  const auto i = place_of(number);
  return i != entries_.end() && i->number == number && !i->is_dead ? &*i
                                                                   : nullptr;
}

const event_entry* event_index::find(uint64_t number) const {
  return const_cast<event_index*>(this)->find(number);
}

event_entry* event_index::next(uint64_t after) {
  for (auto i = place_of(after + 1); i != entries_.end(); ++i) {
    ++looked_at_;
    if (!i->is_dead)
      return &*i;
  }
  return nullptr;
}

const event_entry* event_index::next(uint64_t after) const {
  return const_cast<event_index*>(this)->next(after);
}

event_entry* event_index::next_of(status code, uint64_t after) {
  const auto list = codes_.find(code);
  if (list == codes_.end())
    return nullptr;
  const auto number = list->second.numbers.first_from(after + 1);
  if (!number)
    return nullptr;
  ++looked_at_;
  return find(*number);
}

void event_index::erase(uint64_t number) {
  auto* x = find(number);
  if (x == nullptr)
    return;
  x->is_dead = true;
  x->what = nullptr;
  x->filter = nullptr;
  --alive_;
  const auto list = codes_.find(x->code);
  list->second.numbers.erase(number);
  if (--list->second.count == 0)
    codes_.erase(list);
  while (!entries_.empty() && entries_.front().is_dead)
    entries_.pop_front();
}

size_t event_index::size_of(status code) const {
  const auto list = codes_.find(code);
  return list != codes_.end() ? list->second.count : 0;
}

/// Drops what is dead when it has become the greater part.
void event_index::tidy() {
  if (entries_.size() <= 2 * alive_ + few)
    return;
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [](const auto& x) { return x.is_dead; }),
                 entries_.end());
}

void missed_events::add(uint64_t n, uint64_t from, uint64_t to) {
  if (n == 0)
    return;
  first = count == 0 ? from : std::min(first, from);
  last = std::max(last, to);
  count += n;
}

status event_gaps::add(const event_entry& x) {
  ++total_;
  const auto is_told_apart =
    codes_.size() < defaults::event_gap_codes || codes_.count(x.code) > 0;
  const auto code = is_told_apart ? x.code : default_events;
  auto& to = codes_[code][x.admits_default ? 1 : 0];
  if (to.first == 0)
    to.first = x.number;
  to.last = std::max(to.last, x.number);
  const auto audience = x.filter->ranks_of(nspace_);
  if (audience) {
    for (const auto rank : *audience)
      if (to.for_rank.size() < defaults::event_gap_ranks
          || to.for_rank.count(rank) > 0)
        ++to.for_rank[rank];
    return code;
  }
  ++to.for_all;
  for (const auto rank : x.filter->excluded_of(nspace_))
    ++to.own[rank];
  return code;
}

missed_events event_gaps::of(status code, bool for_default,
                             uint32_t rank) const {
  auto result = missed_events{};
  const auto i = codes_.find(code);
  if (i == codes_.end())
    return result;
  const auto& x = i->second[for_default ? 1 : 0];
  auto count = x.for_all;
  if (const auto own = x.own.find(rank); own != x.own.end())
    count -= own->second;
  if (const auto named = x.for_rank.find(rank); named != x.for_rank.end())
    count += named->second;
  result.add(count, x.first, x.last);
  return result;
}

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
  const auto what = x.what;
  on_settled(x);
  // This log keeps it, or another one does.
  if (what != nullptr && what->is_shared())
    what->pack();
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
  for (const auto code : {x.code, default_events}) {
    const auto those = by_code_.find(code);
    if (those != by_code_.end()
        && std::any_of(
          those->second.begin(), those->second.end(),
          [&](client_id id) { return readers_.at(id).is_pending(x); }))
      return true;
  }
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
                            const std::vector<status>& codes, size_t most) {
  auto& to = readers_.try_emplace(id, proc).first->second;
  for (const auto code : codes) {
    if (to.wants(code))
      continue;
    const auto given_up = to.add(code, index_, most + 1,
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
  auto* x = to != nullptr ? to->next(index_) : nullptr;
  while (x != nullptr && x->what != nullptr
         && !x->what->unpack(x->code, x->filter->source())) {
    drop(*x);
    x = to->next(index_);
  }
  return x;
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
