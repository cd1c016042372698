#include "adapters/sensors/pool_reader.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <utility>

namespace troupe {

sensor_reader_actor::behavior_type
pool_reader(sensor_reader_actor::stateful_pointer<pool_reader_state> self,
            work_poster post, std::function<sensor_readings()> read) {
  return {
    [self, post = std::move(post), read = std::move(read)](read_sensors) {
      auto reply = self->make_response_promise<sensor_readings>();
      const auto result = std::make_shared<sensor_readings>();
      result->trouble = "cannot be read";
      const auto work = [read, result] { *result = read(); };
      const auto done = [reply, result]() mutable {
        reply.deliver(std::move(*result));
      };
      if (!post(work, done))
        reply.deliver(
          make_error(status::resource_busy,
                     "too much work waits on this node; ask later"));
      return reply;
    },
  };
}

} // namespace troupe
