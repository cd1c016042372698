#pragma once

#include "messages/attributes.hpp"
#include "messages/value.hpp"

#include <caf/timespan.hpp>

namespace troupe {

/// The time-out in `directives`, if there is one above zero.
/// Source: PMIx Standard v5, PMIX_TIMEOUT: seconds, 0 means for ever.
inline std::optional<caf::timespan>
timeout_of(const std::vector<info>& directives,
           std::string_view key = attr::timeout) {
  const auto seconds = number<int32_t>(directives, key);
  if (!seconds || *seconds <= 0)
    return std::nullopt;
  return std::chrono::seconds{*seconds};
}

/// Whether the time-out in `directives`, if there is one, is a number. A call
/// with another cannot be followed. Source: edge case 171.
inline bool has_sound_timeout(const std::vector<info>& directives) {
  return find(directives, attr::timeout) == nullptr
         || number<int32_t>(directives, attr::timeout);
}

} // namespace troupe
