#pragma once

#include "messages/control.hpp"
#include "messages/enum_limits.hpp"
#include "messages/lane.hpp"
#include "messages/membership.hpp"
#include "messages/mesh.hpp"

#include <caf/expected.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

// What sessions between nodes carry. A session is between two incarnations, so
// nothing in here says who speaks; only what travels through a third node does.

namespace troupe {

/// As `relayed_frame::via`: along the tree.
inline constexpr uint32_t via_tree = UINT32_MAX;

/// In `lane_closed` to a PEER: whoever they lead through.
inline constexpr uint32_t via_all = UINT32_MAX - 1;

/// Part of a session between two nodes that reach each other through others. It
/// rides the sessions of those between, who owe nothing: what they lose, the
/// two ends send again.
struct relayed_frame {
  uint32_t from = 0;
  uint32_t to = 0;

  /// The member that the sender chose, or `via_tree`.
  uint32_t via = via_tree;

  /// How often it has been passed on.
  uint8_t hops = 0;
  lane_frame frame;
};

/// A piece of a message that is too long to hold up others of its class. The
/// pieces of a message follow each other within their class.
struct message_part {
  /// Of the whole message, and where this piece belongs.
  uint64_t total = 0;
  uint64_t offset = 0;
  std::string bytes;
};

TROUPE_MESSAGE(message_part, x.total, x.offset, x.bytes)

/// The list of what may come in from another node.
using mesh_payload =
  std::variant<node_message, host_message, relayed_frame, message_part>;

/// First byte of what the gateways of nodes tell each other: no `mesh_payload`, so
/// that who has no gateway refuses it, and read by gateways alone.
inline constexpr char gateway_payload = 0x40;

constexpr bool is_for_gateway(std::string_view bytes) {
  return !bytes.empty() && bytes.front() == gateway_payload;
}

/// Serializes one alternative of a `mesh_payload`.
std::string to_payload(const node_message& x);
std::string to_payload(const host_message& x);
std::string to_payload(const relayed_frame& x);
std::string to_payload(const message_part& x);

/// @returns why the bytes are no payload, if they are none.
/// Source: guarantees X43, X44.
caf::expected<mesh_payload> read_payload(std::string_view bytes);

/// Whether a payload is a `message_part`; nothing else is looked at.
bool is_part(std::string_view bytes);

/// What processes bring to a collective, as `node_data::procs`, and back.
/// @returns nothing if the bytes are no such list.
std::string pack_data(const std::vector<proc_data>& x);
std::optional<std::vector<proc_data>> unpack_data(std::string_view bytes);

/// Where a job runs, as `prepare_share::packed_map`, and back.
/// @returns nothing if the bytes are no such map.
std::string pack_map(const job_map& x);
std::optional<job_map> unpack_map(std::string_view bytes);

/// The bytes of a payload.
std::string_view bytes_of(const peer_payload& x);

/// A payload of bytes that `owner` keeps.
peer_payload make_payload(std::shared_ptr<const std::string> owner);

/// The bytes of a payload for whoever keeps them, copied only if they are a part.
std::shared_ptr<const std::string> text_of(const peer_payload& x);

} // namespace troupe
