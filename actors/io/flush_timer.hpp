#pragma once

#include "actors/io/output_buffers.hpp"
#include "messages/actors.hpp"

#include <caf/all.hpp>

namespace troupe {

/// Sends an actor the deadline for what it keeps, unless nothing is kept, or
/// not for a time, or a deadline is on its way.
/// @param is_running Whether one is; reset by whoever gets it.
template <class Self, class Key>
void start_flush_timer(Self* self, const output_buffers<Key>& kept,
                       bool& is_running, deadline what = {}) {
  if (is_running || kept.empty() || kept.time().count() == 0)
    return;
  is_running = true;
  self->delayed_send(self, kept.time(), what);
}

} // namespace troupe
