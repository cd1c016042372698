#include "actors/mesh/exchange/call_merger.hpp"

#include "actors/groups/group_callers.hpp"
#include "actors/mesh/exchange/event_origins.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace troupe {

namespace {

/// Nodes, those in a row together.
class node_rows {
public:
  /// Adds the nodes of an event, if none of them is there.
  /// @returns whether it has.
  bool add(const ordered_event& x) {
    if (any_origin(x, [this](const event_origin& y) { return has_one(y); }))
      return false;
    any_origin(x, [this](const event_origin& y) {
      if (y.count > 0)
        rows_.emplace(y.rank, uint64_t{y.rank} + y.count);
      return false;
    });
    return true;
  }

private:
  bool has_one(const event_origin& x) const {
    if (x.count == 0)
      return false;
    const auto i = rows_.lower_bound(uint64_t{x.rank} + x.count);
    return i != rows_.begin() && std::prev(i)->second > x.rank;
  }

  /// The rank behind each, by the first.
  std::map<uint64_t, uint64_t> rows_;
};

std::vector<group_caller>& callers_of(event_submission& x) {
  return calls_of(x.what.what)->callers;
}

/// Callers in the order of their ranks follow each other, mostly.
bool calls_before(const event_submission& x, const event_submission& y) {
  const auto& xs = calls_of(x.what.what)->callers;
  const auto& ys = calls_of(y.what.what)->callers;
  return !ys.empty() && (xs.empty() || xs.front().proc < ys.front().proc);
}

} // namespace

void event_submission::answer(const caf::expected<ack>& x) {
  then(x);
  for (const auto& other : also)
    other(x);
}

void call_merger::run(list all, const test& has_place, const receiver& next) {
  for (auto i = all.begin(); i != all.end();) {
    const auto end = end_of_same(i, all.end(), has_place);
    if (end - i > 1)
      hand_on(i, end, next);
    else
      next(std::move(*i));
    i = end;
  }
}

/// The end of those that may become one with the first; no node has two of its
/// own in one.
call_merger::iterator call_merger::end_of_same(iterator begin, iterator end,
                                               const test& has_place) {
  auto nodes = node_rows{};
  const auto* first = calls_of(begin->what.what);
  const auto may_be_one = [&](const ordered_event& x) {
    looked_at_ += 1 + x.with.size();
    const auto* calls = calls_of(x.what);
    return calls != nullptr && !is_mark(x.what)
           && calls->operation == first->operation
           && calls->procs == first->procs && !has_place(x) && nodes.add(x);
  };
  auto i = begin;
  while (i != end && may_be_one(i->what))
    ++i;
  return i != begin ? i : std::next(i);
}

/// Makes as few of them as they have room in.
void call_merger::hand_on(iterator begin, iterator end, const receiver& next) {
  auto count = size_t{0};
  for (auto i = begin; i != end; ++i)
    count += callers_of(*i).size();
  looked_at_ += count;
  // Those who say the same become one caller if they stand in a row.
  if (count > defaults::entry_callers)
    std::sort(begin, end, calls_before);
  while (begin != end) {
    auto& x = *begin++;
    begin = merge(x, begin, end);
    next(std::move(x));
  }
}

/// Takes in what there is room for.
/// @returns the first that is left.
call_merger::iterator call_merger::merge(event_submission& into, iterator begin,
                                         iterator end) {
  auto& callers = callers_of(into);
  auto origins = origins_of(into.what);
  auto bytes = bytes_of(callers);
  auto i = begin;
  for (; i != end; ++i) {
    auto& more = callers_of(*i);
    const auto more_bytes = bytes_of(more);
    looked_at_ += 1 + i->what.with.size() + more.size();
    const auto fits = [&] {
      return callers.size() + more.size() <= defaults::entry_callers
             && bytes + more_bytes <= defaults::entry_bytes;
    };
    if (!fits()) {
      looked_at_ += callers.size();
      put_together(callers);
      bytes = bytes_of(callers);
      // Half of the room has to be won, or each of the next costs as much.
      if (callers.size() > defaults::entry_callers / 2
          || bytes > defaults::entry_bytes / 2 || !fits())
        break;
    }
    bytes += more_bytes;
    std::move(more.begin(), more.end(), std::back_inserter(callers));
    const auto theirs = origins_of(i->what);
    origins.insert(origins.end(), theirs.begin(), theirs.end());
    into.also.push_back(std::move(i->then));
    std::move(i->also.begin(), i->also.end(), std::back_inserter(into.also));
  }
  if (i != begin) {
    set_origins(into.what, std::move(origins));
    put_together(callers);
  }
  return i;
}

} // namespace troupe
