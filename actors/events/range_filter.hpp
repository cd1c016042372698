#pragma once

#include "messages/event.hpp"

namespace troupe {

/// Decides which processes of this node an event is for. Plain data: what is
/// costly to work out is worked out once per event.
/// Source: PMIx Standard v5, `pmix_data_range_t` and PMIX_EVENT_CUSTOM_RANGE;
/// RFC0002, "Client-based".
class range_filter {
public:
  /// @param targets Whom the event is for, whatever its range; none: whom its
  ///                range names.
  explicit range_filter(const event& what, std::vector<proc_id> targets = {});

  /// Whether `proc` may see the event. Its own notifier never does: its library
  /// runs the handlers itself.
  bool admits(const proc_id& proc) const;

  /// Whether processes of other nodes may see the event.
  bool leaves_node() const;

  /// Whether default handlers may see the event.
  /// Source: PMIx Standard v5, PMIX_EVENT_NON_DEFAULT.
  bool admits_default() const {
    return admits_default_;
  }

private:
  proc_id source_;
  data_range range_;
  std::vector<proc_id> targets_;
  bool admits_default_;
  bool stays_local_;
};

} // namespace troupe
