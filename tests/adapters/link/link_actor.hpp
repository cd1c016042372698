#pragma once

#include "messages/actors.hpp"

#include <memory>

namespace troupe {

class link;

namespace fixtures {

/// The session of a process with a remote server: passes every request over
/// `to`, and answers with what comes back. Interchangeable with a session in
/// the server's own process, see `spawn_client`.
/// Tell it `close_connection` to end the connection.
client_actor spawn_link_actor(caf::actor_system& sys, std::shared_ptr<link> to);

} // namespace fixtures

} // namespace troupe
