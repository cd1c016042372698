#pragma once

// Type IDs of the actor handles, which travel in messages too. Included by
// messages/actors.hpp, and by nobody else.

#include "messages/actors.hpp"

CAF_BEGIN_TYPE_ID_BLOCK(troupe_actors, caf::id_block::troupe_messages::end)

#define TROUPE_SENT_INTERFACE(handle)                                          \
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::handle))
#include "messages/interfaces.def"

CAF_END_TYPE_ID_BLOCK(troupe_actors)
