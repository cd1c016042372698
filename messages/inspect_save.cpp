#include "messages/actors.hpp"

#define TROUPE_SENT_TYPE(type)                                                 \
  template caf::error inspect(caf::serializer&, type&);
#define TROUPE_NESTED_TYPE(type) TROUPE_SENT_TYPE(type)

namespace troupe {

#include "messages/messages.def"

} // namespace troupe
