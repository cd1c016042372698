#include "messages/sensor.hpp"

#include "messages/attributes.hpp"

#include <utility>

namespace troupe {

event to_event(environment_event x) {
  if (find(x.infos, attr::event_non_default) == nullptr)
    x.infos.push_back(
      {std::string{attr::event_non_default}, 0, value::boolean(true)});
  return {x.code, {{}, rank_undef}, data_range::session, std::move(x.infos)};
}

} // namespace troupe
