#pragma once

#include "actors/events/range_filter.hpp"
#include "messages/event.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace troupe {

/// Where the payload of an event is.
enum class event_place : uint8_t {
  memory,

  /// In memory, on its way to the disk.
  writing,

  disk,

  /// On disk, and in memory for those who are about to get it.
  loaded,
};

/// One event in a log. Source: guarantees 5.1.
struct event_entry {
  /// In the order of arrival at this node.
  uint64_t number = 0;

  status code = status::success;

  /// What it counts for in a budget.
  uint32_t bytes = 0;

  /// Connections that it is for and that have not taken it.
  uint32_t owed = 0;

  /// Processes that it is for, registered and alive, and that have not had it.
  uint32_t awaited = 0;

  event_place place = event_place::memory;

  /// Whether default handlers may see it.
  bool admits_default = true;

  /// Whether registrations after its arrival may have it.
  bool is_kept = true;

  /// Whether it is a row of the state table: raised by the system, and replaced
  /// by the next one about the same.
  bool is_state = false;

  /// Gone already; its place in the sequence is about to go.
  bool is_dead = false;

  /// Null while it is only on disk.
  std::shared_ptr<const event> what;

  std::shared_ptr<const range_filter> filter;
};

/// What an event counts for in a budget: its values and what goes with them.
size_t cost_of(const event& x);

/// Which row of the state table an event of the system is; empty: none.
std::string row_of(const event& x);

} // namespace troupe
