#pragma once

#include "messages/inspect.hpp"

#include <cstdint>
#include <tuple>

namespace troupe {

/// INTERNAL: an actor reminds itself that a wait has lasted long enough.
struct deadline {
  uint64_t id = 0;
};

TROUPE_MESSAGE(deadline, x.id)

} // namespace troupe
