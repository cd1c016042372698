#pragma once

#include "messages/actors.hpp"

#include <caf/message_handler.hpp>

#include <functional>

namespace troupe {

/// The handlers of a host that a daemon writes: any of the messages of
/// `host_actor`, with the answers that stand there.
using host_handlers =
  std::function<caf::message_handler(caf::event_based_actor* self)>;

/// A host that handles some messages itself. Connections of processes are
/// welcome, collectives on this node complete, and everything else is refused
/// with `not_supported`.
/// Source: PMIx Standard v5, "Server Function Pointers": a NULL entry.
host_actor spawn_partial_host(caf::actor_system& sys, host_handlers handlers);

} // namespace troupe
