#pragma once

#include <caf/fwd.hpp>

#include <mutex>

namespace troupe {

/// Actor systems of others in this process that share their handles with ours
/// (docs/decisions/0010), from when they have their names until they end. Safe on
/// any thread.
void add_neighbour(caf::actor_system& sys);

/// Waits for whoever holds it.
void remove_neighbour(caf::actor_system& sys);

/// One of these systems, which does not end while this holds it. For moments: no
/// other can be held meanwhile, by anybody.
class held_neighbour {
public:
  /// @param node The name of the system.
  explicit held_neighbour(const caf::node_id& node);

  /// @returns null if there is no such system, or no longer.
  caf::actor_system* get() const noexcept {
    return system_;
  }

private:
  std::unique_lock<std::mutex> guard_;
  caf::actor_system* system_ = nullptr;
};

} // namespace troupe
