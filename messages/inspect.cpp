#include "messages/actors.hpp"

namespace troupe {

#define TROUPE_DEFINE_INSPECT(type) TROUPE_INSTANTIATE(, type)

TROUPE_FOR_EACH_INSPECTED(TROUPE_DEFINE_INSPECT)

} // namespace troupe
