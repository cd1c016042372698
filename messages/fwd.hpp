#pragma once

// Declares every type of messages/messages.def that may be sent, and gives it its
// ID.

#include <caf/type_id.hpp>

namespace troupe {

#define TROUPE_SENT_TYPE(type) struct type;
#define TROUPE_LOCAL_TYPE(type) struct type;
#include "messages/messages.def"

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_messages, caf::first_custom_type_id)

#define TROUPE_SENT_TYPE(type) CAF_ADD_TYPE_ID(troupe_messages, (troupe::type))
#define TROUPE_LOCAL_TYPE(type) CAF_ADD_TYPE_ID(troupe_messages, (troupe::type))
#include "messages/messages.def"

CAF_END_TYPE_ID_BLOCK(troupe_messages)
