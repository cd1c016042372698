#include "messages/peer_frames.hpp"

#include <bitset>

namespace troupe {

namespace {

constexpr size_t header = 24;
constexpr size_t name = 36;

size_t size_of(const acknowledgement& x) {
  return 1 + 16 * std::bitset<8>{x.classes}.count();
}

size_t body_of(const hello_frame& x) {
  return 2 * name + 8 + size_of(x.received);
}

size_t body_of(const data_frame& x) {
  return 17 + size_of(x.received) + x.payload.size;
}

size_t body_of(const ack_frame& x) {
  return 8 + size_of(x.received);
}

size_t body_of(const probe_frame& x) {
  return 17 + size_of(x.received);
}

size_t body_of(const gone_frame& x) {
  return 16 + size_of(x.received);
}

} // namespace

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

size_t wire_size(const lane_frame& frame) {
  return header + std::visit([](const auto& x) { return body_of(x); }, frame);
}

} // namespace troupe
