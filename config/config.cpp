#include "config/config.hpp"

#include <caf/atom.hpp>

namespace troupe {

config::config() {
  // CAF's default scheduler polls; see docs/decisions/0001.
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", 1u);
}

} // namespace troupe
