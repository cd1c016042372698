#pragma once

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>

#include <cstddef>
#include <map>

namespace troupe {

/// The actors that an actor monitors, as a part of its state. CAF keeps a weak
/// reference to the monitor with each actor that is monitored, and with it all
/// of the monitor's storage, until the monitored one ends: what monitors one
/// that lives longer has to take that back.
class watches {
public:
  watches() = default;

  watches(const watches&) = delete;

  watches& operator=(const watches&) = delete;

  /// Takes back what has been added and not removed.
  ~watches();

  /// Monitors `whom`, once for any number of calls.
  /// @param self The owner; always the same.
  void add(caf::local_actor* self, const caf::strong_actor_ptr& whom);

  template <class Handle>
  void add(caf::local_actor* self, const Handle& whom) {
    add(self, caf::actor_cast<caf::strong_actor_ptr>(whom));
  }

  /// Takes one `add` back; with the last, monitors `whom` no more. Nothing
  /// happens to one that was not added.
  void remove(const caf::actor_addr& whom);

  size_t size() const noexcept {
    return counts_.size();
  }

private:
  caf::local_actor* self_ = nullptr;
  std::map<caf::actor_addr, size_t> counts_;
};

} // namespace troupe
