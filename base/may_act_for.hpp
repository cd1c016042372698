#pragma once

#include "messages/connection.hpp"

#include <cstdint>

namespace troupe {

/// Whether `who` may watch, control or use what belongs to the user `owner`:
/// the same user and root may. The kernel's word counts, not the peer's.
/// Source: PMIx Standard v5, "Security".
inline bool may_act_for(const requester& who, uint32_t owner) {
  return who.creds.uid == owner || who.creds.uid == 0;
}

} // namespace troupe
