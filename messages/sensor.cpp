#include "messages/sensor.hpp"

#include <utility>

namespace troupe {

event to_event(environment_event x) {
  return {x.code, {{}, rank_undef}, data_range::session, std::move(x.infos)};
}

} // namespace troupe
