#pragma once

#include "messages/handle_finder.hpp"
#include "messages/inspect.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/error.hpp>
#include <caf/message.hpp>
#include <caf/type_erased_value.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <typeindex>
#include <vector>

// Actors of other nodes as handles: what programs and proxies say to the GATEWAY
// of their node. None of it leaves the process; what gateways tell each other is in
// actors/mesh/remoting/. For files that say or hear it: handles of the GATEWAY, which
// are everywhere, do with names of types.

namespace troupe {

// -- what programs ask ---------------------------------------------------------

/// Who may reach an actor that is published, or have one spawned.
struct actor_audience {
  /// These nodes alone; without: every member of the DVM.
  std::optional<std::vector<uint32_t>> ranks;

  /// Of them only those of the same user as this node, as the certificates of both
  /// say. Who has shown this node none that says so is not among them.
  bool same_user = false;

  bool has(uint32_t rank, bool is_of_same_user) const {
    return (!same_user || is_of_same_user)
           && (!ranks
               || std::find(ranks->begin(), ranks->end(), rank)
                    != ranks->end());
  }
};

/// Lets other nodes find an actor by name; answered when they can. A name stands
/// for one actor: the last that was published. The end of the actor takes it back.
struct publish_actor {
  std::string name;
  caf::strong_actor_ptr actor;

  /// What it understands, see `interface_of`; none: anything.
  std::vector<std::string> interface;
  actor_audience who;
};

/// Nodes that have a handle keep it.
struct unpublish_actor {
  std::string name;
};

TROUPE_MESSAGE(unpublish_actor, x.name)

/// Asks for the handle of a published actor. Fails with
/// `sec::cannot_connect_to_node` if there is no such member or it has no gateway,
/// `sec::no_actor_published_at_port` if nobody has published the name, or not for
/// this node, and `sec::unexpected_actor_messaging_interface`.
struct lookup_actor {
  /// None: whichever member has it; this node first.
  std::optional<uint32_t> rank;
  std::string name;

  /// What the actor has to understand, see `interface_of`; none: anything.
  std::vector<std::string> interface {};
};

TROUPE_MESSAGE(lookup_actor, x.rank, x.name, x.interface)

/// Asks another node to spawn an actor of a kind that it has registered. Fails
/// as `lookup_actor`, and with `sec::cannot_spawn_actor_from_arguments`.
struct spawn_actor {
  uint32_t rank = 0;
  std::string kind;
  caf::message arguments;

  /// As in `lookup_actor`.
  std::vector<std::string> interface {};
};

/// Makes an actor of its arguments; null if these are none.
using actor_factory =
  std::function<caf::strong_actor_ptr(const caf::message& arguments)>;

/// Other nodes may have actors of this kind spawned here. Answered when they can.
struct register_actor_kind {
  std::string name;
  actor_factory make;

  /// What its actors understand, see `interface_of`; none: anything.
  std::vector<std::string> interface;
  actor_audience who;
};

/// A type that messages of other nodes may bring.
struct wire_type {
  std::string name;
  std::type_index type;

  /// CAF's number of the type; 0 for one that is none of CAF's.
  uint16_t number = 0;
  caf::type_erased_value_ptr (*make)() = nullptr;

  /// Finds the typed handles in a value of the type; null if it can have none.
  using finder = void (*)(const void* value, const handle_function& out);
  finder find = nullptr;
};

/// Takes messages with these types from now on, besides those taken already.
struct allow_types {
  std::vector<wire_type> types;
};

/// Answered when there is room for messages to a node, or it is gone: a request
/// that failed with `status::out_of_resource` may be tried again then.
struct await_room {
  uint32_t rank = 0;
};

TROUPE_MESSAGE(await_room, x.rank)

// -- proxies, on any thread ----------------------------------------------------

/// A message for an actor of another node.
struct proxy_message {
  caf::strong_actor_ptr proxy;
  caf::strong_actor_ptr from;
  uint64_t mid = 0;
  caf::message content;

  /// What its content was counted as, and whether all of that was counted.
  size_t bytes = 0;
  bool is_whole = true;
};

/// A local actor is linked to a proxy from now on, or no longer.
struct proxy_linked {
  caf::strong_actor_ptr proxy;
  caf::strong_actor_ptr local;
  bool is_linked = false;
};

/// An actor that other nodes know has ended.
struct exported_ended {
  caf::actor_id id = 0;
  caf::error reason;
};

/// INTERNAL: the gateway has no mail left, and sends what it has gathered.
struct flush_gateway {};

TROUPE_EMPTY_MESSAGE(flush_gateway)

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::publish_actor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::spawn_actor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::register_actor_kind)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::allow_types)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::proxy_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::proxy_linked)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::exported_ended)
