#pragma once

#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <functional>
#include <string>

namespace troupe {

struct sensor_desk_options {
  /// The node, as its events say.
  std::string hostname;

  /// Seconds since the epoch, as events say; none: they do not.
  std::function<int64_t()> wall_clock;
  journal log;
};

/// Runs the sensors of a node: each as long as somebody wants one of its codes,
/// for those codes that somebody wants. Gives each event once to everybody who
/// wants its code, with what belongs to all: PMIX_HOSTNAME and
/// PMIX_EVENT_TIMESTAMP, unless the sensor has said so itself. A sensor that
/// floods costs its own events, counted (`event_throttle`); one that ends, or
/// tells what it has not offered, is named in the log. They end with the desk.
/// Source: RFC0002, "Server Registration"; guarantees 2, class E.
sensor_desk_actor spawn_sensor_desk(caf::actor_system& sys,
                                    sensor_desk_options options);

} // namespace troupe
