#pragma once

#include "actors/events/sensor_rules.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <caf/timespan.hpp>

#include <string>
#include <vector>

namespace troupe {

/// What a SAMPLED SENSOR looks at, and how.
struct sampled_sensor_options {
  /// For the log, such as `temperatures`.
  std::string name;
  std::vector<sensor_quantity> quantities;
  sensor_reader_actor reader;

  /// Between two looks. Zero: the reader answers once something has changed.
  caf::timespan interval{0};
  sensor_limits limits;
  journal log;
};

/// What such a sensor can tell of.
sensor_offer offer_of(const sampled_sensor_options& options);

/// Looks at a reader as long as somebody wants events of it, and raises those
/// that `sensor_rules` makes of what it sees. Looks once at a time, so a reader
/// that hangs costs nothing but its events. What was wrong when it began to
/// look is an event, too; counters and links begin with what they are then.
sampled_sensor_actor spawn_sampled_sensor(caf::actor_system& sys,
                                          sampled_sensor_options options);

} // namespace troupe
