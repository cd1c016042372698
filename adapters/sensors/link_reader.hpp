#pragma once

#include "messages/actors.hpp"

#include <caf/expected.hpp>

#include <string>
#include <vector>

namespace troupe {

class event_loop;

struct link_reader_options {
  /// Which links; none: all but the loopback.
  std::vector<std::string> names;
};

/// A SENSOR READER of the node's links that is told of changes by the kernel:
/// answers with all links at first, then once some have changed, with the
/// changes in their order. When there have been more than `sensor_changes`
/// unasked for, or the kernel has lost some, all links follow instead.
/// @returns why the kernel tells nothing, in a sentence.
caf::expected<sensor_reader_actor>
spawn_link_reader(caf::actor_system& sys, event_loop& loop,
                  link_reader_options options);

} // namespace troupe
