#pragma once

#include "adapters/local/newcomer.hpp"
#include "messages/actors.hpp"

#include <functional>
#include <memory>

namespace troupe {

struct local_service;

/// Starts a CONNECTION actor: asks the server to serve the peer and, if it
/// does, carries requests to the session, and answers and pushes to the peer,
/// until one of the two ends, or the server does. If the server refuses, or the
/// peer breaks the protocol, the reason is logged and the socket closed; the
/// peer is not told, because some clients would wait for ever.
///
/// What the peer does after `PMIx_Finalize` is an orderly end.
/// @param on_gone Called when the actor ends.
/// Source: OpenPMIx wire protocol, connect and life of a connection;
/// guarantees, attacks X13 to X20 and X25, limits L3, L8, L11 and L16.
connection_actor start_connection(std::shared_ptr<local_service> service,
                                  identified_peer peer,
                                  std::function<void()> on_gone);

} // namespace troupe
