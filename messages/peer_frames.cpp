#include "messages/peer_frames.hpp"

namespace troupe {

bool may_be_overtaken(const lane_frame& frame) noexcept {
  if (const auto* x = std::get_if<data_frame>(&frame))
    return x->of == traffic_class::io || x->of == traffic_class::environment;
  const auto* probe = std::get_if<probe_frame>(&frame);
  return probe != nullptr && !probe->is_answer;
}

traffic_class class_on_relays(const lane_frame& frame) noexcept {
  if (may_be_overtaken(frame))
    return traffic_class::io;
  const auto* x = std::get_if<data_frame>(&frame);
  return x != nullptr && x->of == traffic_class::actors
           ? traffic_class::actors
           : traffic_class::collectives;
}

} // namespace troupe
