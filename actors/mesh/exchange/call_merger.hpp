#pragma once

#include "messages/event_order.hpp"
#include "messages/host.hpp"

#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace troupe {

namespace defaults {

/// Calls of several nodes that become one entry: so many that differ, and so
/// many bytes.
inline constexpr size_t entry_callers = 4096;
inline constexpr size_t entry_bytes = size_t{1} << 20;

} // namespace defaults

/// An event that wants a place in an order, at the home or on the way there.
struct event_submission {
  using completion = std::function<void(caf::expected<ack>)>;

  ordered_event what;
  completion then;
  bool may_wait = false;

  /// Whether another node brings it than the one that it is of.
  bool is_passed = false;

  /// Those of the others whose calls it has taken in.
  std::vector<completion> also{};

  /// Answers all of them.
  void answer(const caf::expected<ack>& x);
};

/// Makes one entry of calls of several nodes of a group. Of n origins and
/// callers it costs O(n log n). A plain class.
/// Source: docs/decisions/0011.
class call_merger {
public:
  using list = std::vector<event_submission>;

  /// Whether an event, or one of those that it has taken in, has a place.
  using test = std::function<bool(const ordered_event&)>;

  using receiver = std::function<void(event_submission)>;

  /// Hands on what has been submitted, in its order. Those in a row that call
  /// the same operation with the same participants, of nodes that differ, are
  /// one, as long as that does not become too long; among themselves they have
  /// no order. What has a place already stays alone.
  void run(list all, const test& has_place, const receiver& next);

  /// Origins and callers that have been looked at, compared or moved so far.
  uint64_t looked_at() const {
    return looked_at_;
  }

private:
  using iterator = list::iterator;

  iterator end_of_same(iterator begin, iterator end, const test& has_place);
  void hand_on(iterator begin, iterator end, const receiver& next);
  iterator merge(event_submission& into, iterator begin, iterator end);

  uint64_t looked_at_ = 0;
};

} // namespace troupe
