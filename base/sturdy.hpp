#pragma once

#include <caf/behavior.hpp>
#include <caf/fwd.hpp>

#include <utility>

namespace troupe {

/// See `sturdy`.
caf::behavior sturdy_behavior(caf::scheduled_actor* self, caf::behavior x);

/// Keeps an actor on which a whole node relies from ending because one of its
/// handlers found no memory: that request is answered with `nomem`, a message
/// that nobody waits for is lost, and the next one is handled. Not for actors
/// that owe several an answer by what one tells them: their end answers all.
/// What handlers of responses throw still ends the actor.
template <class Behavior>
Behavior sturdy(caf::scheduled_actor* self, Behavior x) {
  x.unbox() = sturdy_behavior(self, std::move(x.unbox()));
  return x;
}

} // namespace troupe
