#pragma once

#include "messages/event_order.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

// Whose an event in an order is, and what of it counts in the order itself.

namespace troupe {

/// Whether an event has come from a node; several in a row are one by one.
inline bool covers(const event_origin& x, uint32_t rank) {
  return rank >= x.rank && rank - x.rank < x.count;
}

/// Whether one of the origins of an event is such.
template <class F>
bool any_origin(const ordered_event& x, F is_such) {
  return is_such(event_origin{x.origin, x.incarnation, x.number, 1})
         || std::any_of(x.with.begin(), x.with.end(), is_such);
}

/// Those of an event, all of them.
std::vector<event_origin> origins_of(const ordered_event& x);

/// Gives an event its origins, those in a row together.
/// @pre there is one, and none is of no node
void set_origins(ordered_event& x, std::vector<event_origin> all);

/// The calls of an entry; null: it is another one.
const group_calls* calls_of(const ordered_content& what);
group_calls* calls_of(ordered_content& what);

/// Whether an entry only has a place: it is nothing for servers.
bool is_mark(const ordered_content& what);

/// Who joins the log with an entry; none with most.
std::vector<uint32_t> joining_of(const ordered_content& what);

} // namespace troupe
