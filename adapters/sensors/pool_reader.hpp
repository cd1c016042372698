#pragma once

#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <functional>

namespace troupe {

/// `thread_pool::post`, as long as there is a pool; then `false`.
using work_poster =
  std::function<bool(std::function<void()> work, std::function<void()> done)>;

/// The state of a SENSOR READER.
struct pool_reader_state {
  static inline const char* name = "sensor-reader";
};

/// Reads on a thread of a pool: hardware may be slow, and file systems hang.
/// Refused with `resource_busy` if the pool is full.
/// @param read Owns all that it needs.
sensor_reader_actor::behavior_type
pool_reader(sensor_reader_actor::stateful_pointer<pool_reader_state> self,
            work_poster post, std::function<sensor_readings()> read);

} // namespace troupe
