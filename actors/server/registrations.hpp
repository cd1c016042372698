#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace troupe {

/// Who may be expected to connect: the server keeps it, the listener reads it
/// to bound what strangers may open. For the thread of the loop only.
/// Source: guarantees, limits L1 and L13.
struct registrations {
  /// Processes of this node that are registered.
  size_t total = 0;

  /// Those of each user that have not connected yet.
  std::map<uint32_t, size_t> awaited;

  size_t awaited_of(uint32_t uid) const {
    const auto i = awaited.find(uid);
    return i != awaited.end() ? i->second : 0;
  }
};

} // namespace troupe
