#pragma once

#include "base/journal.hpp"

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How often an actor that failed is started again, and within which time
/// (L26).
inline constexpr size_t actor_restarts = 5;
inline constexpr auto actor_restart_window = 10s;

} // namespace defaults

/// How an actor is kept alive.
struct supervision {
  /// What the actor is, for the log, such as `log sink`.
  std::string what;

  /// Restarts within the window; one more, and it is given up (LIM26).
  size_t restarts = defaults::actor_restarts;
  caf::timespan window = defaults::actor_restart_window;

  journal log;

  /// The actor has been given up, with the reason: the process is not healthy.
  /// May be empty.
  std::function<void(const std::string& reason)> on_given_up;
};

/// See `supervise`.
caf::actor supervise_any(caf::actor_system& sys,
                         std::function<caf::actor()> make, supervision how);

/// Keeps an actor alive that holds nothing worth more than its next request:
/// when it fails, another one takes its place behind the same handle. What it
/// had not answered is answered with an error; once it is given up, everything
/// is. It ends with the handle's actor.
/// Source: guarantees, section 5.10 and limit L26.
template <class Handle>
Handle supervise(caf::actor_system& sys, std::function<Handle()> make,
                 supervision how) {
  return caf::actor_cast<Handle>(supervise_any(
    sys,
    [make = std::move(make)] { return caf::actor_cast<caf::actor>(make()); },
    std::move(how)));
}

} // namespace troupe
