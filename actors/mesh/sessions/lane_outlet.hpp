#pragma once

#include "messages/lane.hpp"

#include <functional>

namespace troupe {

/// Where PEERs put frames that run on the thread of their NETWORKS: a call in the
/// place of a message for each frame.
struct lane_outlet {
  /// Empty before NETWORKS begins and once it has ended: then frames go by
  /// messages. Does not call its caller.
  std::function<void(const put_lane_frame&)> put;
};

} // namespace troupe
