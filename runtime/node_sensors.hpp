#pragma once

#include "base/journal.hpp"
#include "config/sensor_settings.hpp"
#include "messages/actors.hpp"

#include <memory>
#include <string>

namespace troupe {

class loop_system;

/// Seconds since the epoch, as events say.
int64_t wall_clock();

/// The sensors of a node and the desk that runs them. Nothing is looked at
/// before somebody wants to hear of it.
class node_sensors {
public:
  /// @param loop Outlives this.
  /// @param hostname The node, as its events say.
  node_sensors(loop_system& loop, const std::string& hostname,
               const sensor_settings& settings, const journal& log);

  /// Ends them.
  ~node_sensors();

  node_sensors(const node_sensors&) = delete;
  node_sensors& operator=(const node_sensors&) = delete;

  /// Takes further sensors, and those who want to hear of the environment.
  const sensor_desk_actor& desk() const {
    return desk_;
  }

private:
  /// The threads that sensors read on, until this ends.
  struct threads;

  std::shared_ptr<threads> threads_;
  sensor_desk_actor desk_;
};

} // namespace troupe
