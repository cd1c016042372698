#pragma once

// Actors of other nodes as handles. What is not included here is in
// messages/remoting.hpp, for those who send or take it.

#include "messages/actor_bundle.hpp"
#include "messages/deadline.hpp"
#include "messages/fwd.hpp"
#include "messages/gauge.hpp"
#include "messages/host.hpp"
#include "messages/mesh.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The BUNDLE CARRIER interface: the NODE, as its GATEWAY sees it.
using bundle_carrier_actor = caf::typed_actor<
  // For the gateway of a member.
  caf::reacts_to<actor_bundle>>;

/// The GATEWAY interface: actors of this node for others, and theirs for it.
using gateway_actor = caf::typed_actor<
  // -- from proxies, on any thread; and what comes most often --
  // A message for an actor of another node.
  caf::reacts_to<proxy_message>,
  // From the gateway of a member.
  caf::reacts_to<actor_bundle>,
  // INTERNAL: no mail is left.
  caf::reacts_to<flush_gateway>,
  // A local actor is linked to one elsewhere, or no longer.
  caf::reacts_to<proxy_linked>,
  // An actor that other nodes know has ended.
  caf::reacts_to<exported_ended>,
  // -- from the NODE --
  // Who is a member.
  caf::reacts_to<member_changed>,
  // -- from programs --
  // Lets others find an actor.
  caf::replies_to<publish_actor>::with<ack>,
  // No longer.
  caf::replies_to<unpublish_actor>::with<ack>,
  // The handle of an actor that somebody has published.
  caf::replies_to<lookup_actor>::with<caf::strong_actor_ptr>,
  // Spawns an actor elsewhere.
  caf::replies_to<spawn_actor>::with<caf::strong_actor_ptr>,
  // Others may have actors of a kind spawned here.
  caf::replies_to<register_actor_kind>::with<ack>,
  // Types that messages of others may bring.
  caf::reacts_to<allow_types>,
  // Answered when there is room for messages to a node.
  caf::replies_to<await_room>::with<ack>,
  // How much there is of what can grow.
  caf::replies_to<get_gauges>::with<gauge_list>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

} // namespace troupe
