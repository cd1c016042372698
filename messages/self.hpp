#pragma once

#include <caf/stateful_actor.hpp>

/// Defines `self_pointer`: how an actor with this interface and state points to
/// itself. A class of its own, since the names of all that an actor hands to CAF
/// carry the name of its type: without, each of them repeats the whole interface,
/// kilobytes for a lambda.
#define TROUPE_SELF_POINTER(interface, state_type)                             \
  struct self_type final : caf::stateful_actor<state_type, interface::base> {  \
    using stateful_actor::stateful_actor;                                      \
  };                                                                           \
  using self_pointer = self_type*
