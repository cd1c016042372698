#pragma once

#include "actors/events/event_shelf.hpp"
#include "config/defaults.hpp"

#include <set>
#include <tuple>
#include <vector>

namespace troupe {

/// The newest events of the environment, for those who want them now or later.
/// When it is full, the code with the most events loses its oldest, so that no
/// code's storm drives out the others; whoever has not had it is told how much
/// it has missed. Holds nobody back.
/// Source: RFC0002, "ring buffer"; guarantees 5.1, P-E1.
class event_ring : public event_shelf {
public:
  /// @param size Events to keep; 0: none for later registrations.
  explicit event_ring(size_t size, size_t bytes = defaults::event_ring_bytes);

  /// Takes an event.
  /// @returns the connections that are to get it.
  std::vector<client_id> append(event_entry x);

  /// A connection has taken an event.
  void take(client_id id, uint64_t number);

  /// A connection has ended.
  void disconnect(client_id id) {
    remove_reader(id);
  }

  size_t bytes() const noexcept {
    return bytes_;
  }

  uint64_t accepted() const noexcept {
    return accepted_;
  }

  /// Compares all counts with what they count.
  /// @returns what is wrong; empty: nothing.
  std::string audit() const;

private:
  /// Events of a code (fewer come later), the number of the oldest, the code:
  /// the first is the one that loses an event.
  using share = std::tuple<size_t, uint64_t, status>;

  void on_owed(event_entry&) override {
    // Being owed does not keep an event from going.
  }

  void on_settled(event_entry& x) override;
  void on_erased(const event_entry& x) override;

  share share_of(status code);
  void trim();

  size_t size_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  uint64_t accepted_ = 0;
  std::set<share> shares_;
};

} // namespace troupe
