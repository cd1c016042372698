#pragma once

#include "actors/mesh/remoting/conversation.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"
#include "messages/remoting.hpp"

#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// Bytes that wait for one node until it takes more, and of one message.
inline constexpr size_t gateway_queue = size_t{256} << 20;
inline constexpr size_t gateway_message = size_t{64} << 20;

/// Messages of proxies that the gateway has not looked at, and their bytes beyond
/// the first `gateway_mail_uncounted`.
inline constexpr uint64_t gateway_mail = uint64_t{4} << 20;
inline constexpr uint64_t gateway_mail_bytes = uint64_t{256} << 20;

/// Requests to other nodes that are open.
inline constexpr size_t gateway_requests = size_t{1} << 20;

/// Handles of actors of one node.
inline constexpr size_t gateway_proxies = size_t{1} << 20;

/// How often is looked for proxies that nobody holds: those that were idle twice
/// go.
inline constexpr auto gateway_sweep = 5s;

/// How long a handle stays that was passed on to a third node, which has to ask
/// for it.
inline constexpr auto gateway_handover = 60s;

} // namespace defaults

/// What a GATEWAY needs to know.
struct gateway_settings {
  /// This node; its actor system bears this name, see `name_system`.
  uint32_t rank = 0;
  uint64_t incarnation = 0;

  /// The user that this node belongs to, by its certificate.
  std::optional<uint32_t> user;

  /// Takes bundles for other nodes.
  bundle_carrier_actor node;

  /// Numbers that nobody can guess.
  std::function<uint64_t()> random;

  size_t window = defaults::gateway_window;
  size_t queue_bytes = defaults::gateway_queue;
  size_t message_bytes = defaults::gateway_message;
  uint64_t mail = defaults::gateway_mail;
  uint64_t mail_bytes = defaults::gateway_mail_bytes;

  journal log;
};

/// Makes actors of other nodes actors of this system: proxies, which hand it what
/// is for them; and gives others what they send to ours. Takes nothing for granted
/// that comes from elsewhere: types are those that the program has allowed,
/// receivers those whose handle the sender was given, and typed handles in messages
/// are of actors that understand what their types say.
///
/// What two gateways tell each other is one stream: messages of an actor to
/// another arrive in their order, and its end after them. A request is answered,
/// or fails when the node that was to answer is lost.
/// Source: ACT-1 to ACT-17, docs/decisions/0007, 0023.
gateway_actor spawn_gateway(caf::actor_system& sys, gateway_settings settings);

} // namespace troupe
