// How CAF writes and reads messages, for those that our programs never have it write:
// not at all. What daemons tell each other has a codec of its own
// (messages/mesh_payload.hpp); by CAF's go messages of actors of other nodes, of which
// a gateway has the types that somebody has allowed, and those are of monitors. Every
// message has pointers to both functions, wherever it is sent, and so each would be
// part of the program.
//
// Instead of what messages/inspect_save.cpp and inspect_load.cpp have: programs alone
// link it. A library cannot know what those who embed it send.

#include "messages/interfaces/adapters.hpp"
#include "messages/interfaces/client.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/interfaces/groups.hpp"
#include "messages/interfaces/host.hpp"
#include "messages/interfaces/io.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/mesh.hpp"
#include "messages/interfaces/monitors.hpp"
#include "messages/interfaces/remoting.hpp"
#include "messages/interfaces/server.hpp"

#include <caf/deserializer.hpp>
#include <caf/sec.hpp>
#include <caf/serializer.hpp>

namespace troupe {

namespace {

/// One for all. Never called, and so it may say that it does not throw, without which
/// each of those below has a table for exceptions.
[[gnu::noinline]] caf::error refused() noexcept {
  return caf::sec::unknown_type;
}

} // namespace

#define TROUPE_SENT_TYPE(type)                                                 \
  template <>                                                                  \
  caf::error inspect(caf::serializer&, type&) {                                \
    return refused();                                                          \
  }                                                                            \
  template <>                                                                  \
  caf::error inspect(caf::deserializer&, type&) {                              \
    return refused();                                                          \
  }
#define TROUPE_NESTED_TYPE(type) TROUPE_SENT_TYPE(type)
#define TROUPE_CARRIED_TYPE(type)
#define TROUPE_CARRIED_PART(type)
#include "messages/messages.def"

} // namespace troupe
