#pragma once

#include "adapters/loop/event_loop.hpp"

#include <csignal>
#include <functional>

namespace troupe {

/// Calls `f` with the number of a signal by which users, terminals and batch
/// systems end a tool.
inline void on_interrupt(event_loop& loop, const std::function<void(int)>& f) {
  for (const auto number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    loop.on_signal(number, [f, number] { f(number); });
}

} // namespace troupe
