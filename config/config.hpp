#pragma once

#include <caf/actor_system_config.hpp>

namespace troupe {

/// The configuration of an actor system that runs our actors: nothing is read
/// from files or from the command line.
class config : public caf::actor_system_config {
public:
  config();
};

} // namespace troupe
