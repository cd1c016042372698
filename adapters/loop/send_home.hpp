#pragma once

#include <caf/actor_system.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

namespace troupe {

/// @returns the actor behind `job`, or null if it is another kind of task.
inline caf::scheduled_actor* actor_of(caf::resumable* job) {
  const auto kind = job->subtype();
  if (kind == caf::resumable::scheduled_actor
      || kind == caf::resumable::io_actor)
    return static_cast<caf::scheduled_actor*>(job);
  return nullptr;
}

/// Gives an actor of another system to the scheduler of that system. CAF queues
/// an actor that has got mail where its sender runs: among systems that would be
/// a thread that must not run it.
/// @returns whether it has done so.
inline bool send_home(caf::resumable* job, const caf::actor_system& here) {
  auto* actor = actor_of(job);
  if (actor == nullptr || &actor->home_system() == &here)
    return false;
  actor->home_system().scheduler().enqueue(job);
  return true;
}

} // namespace troupe
