#pragma once

#include <caf/fwd.hpp>

namespace troupe {

/// Lets the actors of an actor system that the process has beside those of
/// Troupe and theirs be each other's: `send`, `request`, `delegate`, response
/// promises, `monitor`, `link` and handles in messages work between them as in
/// one system, for scheduled, detached and blocking actors and brokers, and each
/// runs on the threads of its own.
///
///     caf::actor_system_config cfg;
///     troupe::share_handles(cfg);
///     caf::actor_system theirs{cfg};
///
/// To be called before the system is made; its scheduler is CAF's, by
/// `scheduler.policy`. Without it a handle of ours must not be used there, except
/// by `anon_send`: CAF would run our actor on a thread of theirs. What else does
/// not work is in docs/library.md, "Beside an actor system of your own".
void share_handles(caf::actor_system_config& theirs);

} // namespace troupe
