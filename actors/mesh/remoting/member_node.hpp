#pragma once

#include <caf/abstract_actor.hpp>
#include <caf/fwd.hpp>
#include <caf/node_id.hpp>

#include <cstdint>
#include <optional>

namespace troupe {

/// Stands for no rank of a DVM: an actor system that is no node has it, and a
/// number of its own as its incarnation.
inline constexpr uint32_t no_rank = UINT32_MAX;

/// One life of a node: its rank in the DVM, and the incarnation of its daemon.
struct member_name {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
};

inline bool operator==(const member_name& x, const member_name& y) {
  return x.rank == y.rank && x.incarnation == y.incarnation;
}

inline bool operator!=(const member_name& x, const member_name& y) {
  return !(x == y);
}

/// A handle as it travels.
struct wire_handle {
  member_name node;
  caf::actor_id id = 0;
  uint64_t key = 0;
};

/// What CAF calls a member: handles of its actors bear it, and a daemon that was
/// started anew is another node.
caf::node_id make_member_node(const member_name& x);

/// @returns nothing for nodes that are no members.
std::optional<member_name> member_of(const caf::node_id& x);

/// Names an actor system: actors that are spawned from then on bear the name. A
/// system without CAF's middleman has none by itself, and CAF has no function for
/// it. To be called while no other thread uses the system.
void name_system(caf::actor_system& sys, const member_name& x);

/// Forgets all proxies of a registry without ending them, which CAF has no
/// function for either. For the one thread that uses the registry.
void forget_proxies(caf::proxy_registry& x);

} // namespace troupe
