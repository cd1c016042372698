#include "messages/actors.hpp"

namespace troupe {

#define TROUPE_SENT_TYPE(type) TROUPE_INSTANTIATE(, type)
#define TROUPE_NESTED_TYPE(type) TROUPE_INSTANTIATE(, type)
#include "messages/messages.def"

} // namespace troupe
