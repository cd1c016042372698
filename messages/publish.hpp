#pragma once

#include "messages/enums.hpp"
#include "messages/inspect.hpp"
#include "messages/value.hpp"

namespace troupe {

/// Publishes keys; directives (range, persistence, ...) stand among them.
/// Source: PMIx Standard v5, `PMIx_Publish`.
struct publish_request {
  /// The effective user that the peer wrote; must be its real one.
  uint32_t uid = 0;
  std::vector<info> infos;
};

TROUPE_MESSAGE(publish_request, x.uid, x.infos)

/// Asks for published keys. Source: PMIx Standard v5, `PMIx_Lookup`.
struct lookup_request {
  uint32_t uid = 0;
  std::vector<std::string> keys;
  std::vector<info> directives;
};

TROUPE_MESSAGE(lookup_request, x.uid, x.keys, x.directives)

struct lookup_result {
  std::vector<pdata> found;
};

TROUPE_MESSAGE(lookup_result, x.found)

/// Withdraws keys; none: all that the requester published.
/// Source: PMIx Standard v5, `PMIx_Unpublish`.
struct unpublish_request {
  uint32_t uid = 0;
  std::vector<std::string> keys;
  std::vector<info> directives;
};

TROUPE_MESSAGE(unpublish_request, x.uid, x.keys, x.directives)

} // namespace troupe
