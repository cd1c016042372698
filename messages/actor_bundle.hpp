#pragma once

#include "messages/peer_frames.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

// What a GATEWAY and the NODE below it say to each other. None of it leaves the
// process.

namespace troupe {

/// Bytes for the gateway of a member, or from it: in order, once, as long as the
/// session of both nodes lasts.
struct actor_bundle {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
  std::shared_ptr<const std::string> bytes;

  /// From a member: the user that its certificate says it belongs to. None if it
  /// says none, or has not been shown to this node.
  std::optional<uint32_t> user{};
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actor_bundle)
