#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>

#include <mutex>
#include <unordered_set>
#include <vector>

namespace troupe {

/// The actors of a system that have begun and not ended. CAF only counts them,
/// so it can neither end those that refer to each other nor those that keep a
/// promise; with this list a system can. Safe on any thread.
class actor_roster {
public:
  void add(caf::abstract_actor* x);

  /// Has to come before `x` is destroyed; no effect if not listed.
  void remove(caf::abstract_actor* x);

  /// Lists everybody. No thread may be ending actors meanwhile.
  std::vector<caf::strong_actor_ptr> all() const;

private:
  mutable std::mutex mutex_;
  std::unordered_set<caf::abstract_actor*> actors_; // guarded by mutex_
};

} // namespace troupe
