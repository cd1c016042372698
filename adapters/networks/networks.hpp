#pragma once

#include "adapters/networks/network_kernel.hpp"
#include "adapters/networks/reach_table.hpp"
#include "base/journal.hpp"
#include "base/lane_kind.hpp"
#include "config/defaults.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <functional>
#include <memory>

namespace troupe {

class event_loop;

class network_set;

class secure_context;

struct networks_options {
  /// Hears of lanes and networks.
  lane_owner_actor owner;

  /// 0: the kernel picks one for each address.
  uint16_t port = 0;

  interface_choice interfaces;

  /// Without TCP interfaces are not looked at. Lanes of the machine only if
  /// somebody wants them.
  lane_kinds kinds{true, false};

  /// Each network has a thread and a loop of its own (O8): a busy one delays
  /// neither others nor the rest of the process.
  bool own_progress = false;

  /// Connections to one node at a time.
  size_t lanes_per_peer = defaults::lanes_per_peer;

  /// How long a lane waits to be adopted.
  std::chrono::milliseconds adoption_time{5000};

  lane_limits limits;
  reach_times times;

  /// Any numbers, for the jitter of retries.
  std::function<uint64_t()> random;

  /// What the kernel says of networks; empty: rtnetlink.
  std::shared_ptr<network_kernel> kernel;

  /// What went wrong without anybody having asked.
  journal log;
};

/// The state of a NETWORKS actor. Hidden also in files whose names are visible.
struct [[gnu::visibility("hidden")]] networks_state {
  static inline const char* name = "networks";

  networks_state();

  ~networks_state();

  std::unique_ptr<network_set> networks;
};

/// The lanes of this node on all its networks, and within its machine, which is
/// one more network, `unix`, of its own kind: listens on each, opens lanes to
/// the nodes that are to be reached, and opens them again when they end or when
/// a network comes back. When the kernel says that an interface is down, or an
/// address gone, its lanes end at once.
///
/// Without security only networks of loopback are used; others that are named
/// are an error.
///
/// Ends with an error if the kernel's networks cannot be asked for.
/// Source: guarantees 5.3; requirements O4, O5, O7 to O10, O12, O16, L1, L2, L3,
/// L6, P-N1.
networks_actor::behavior_type
networks(networks_actor::stateful_pointer<networks_state> self,
         event_loop* loop, std::shared_ptr<const secure_context> context,
         networks_options options);

} // namespace troupe
