#pragma once

#include "messages/collective.hpp"
#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/group_entry.hpp"
#include "messages/io_stream.hpp"
#include "messages/membership.hpp"
#include "messages/peer_frames.hpp"
#include "messages/site_hook.hpp"

// The largest value of each enumeration that is ours alone and that nodes send
// each other; see messages/codec_traits.hpp.

namespace troupe {

constexpr collective_kind last_of(collective_kind) {
  return collective_kind::disconnect;
}

constexpr io_policy last_of(io_policy) {
  return io_policy::drop_newest;
}

constexpr io_start last_of(io_start) {
  return io_start::offset;
}

constexpr group_operation last_of(group_operation) {
  return group_operation::destruct;
}

constexpr group_phase last_of(group_phase) {
  return group_phase::over;
}

constexpr control_action last_of(control_action) {
  return control_action::restart;
}

constexpr node_state last_of(node_state) {
  return node_state::left;
}

constexpr join_refusal last_of(join_refusal) {
  return join_refusal::stale;
}

constexpr traffic_class last_of(traffic_class) {
  return traffic_class::environment;
}

constexpr site_hook last_of(site_hook) {
  return site_hook::provision;
}

} // namespace troupe
