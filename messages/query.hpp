#pragma once

#include "messages/inspect.hpp"
#include "messages/value.hpp"

namespace troupe {

/// Asks about the system. Source: PMIx Standard v5, `PMIx_Query_info`.
struct query_request {
  std::vector<query> queries;
};

TROUPE_MESSAGE(query_request, x.queries)

/// Infos that answer a request of several kinds.
struct info_result {
  std::vector<info> infos;

  /// Whether everything that was asked for is there; if not, the status is
  /// `query_partial_success`.
  bool complete = true;
};

TROUPE_MESSAGE(info_result, x.infos, x.complete)

/// Writes to a log. Source: PMIx Standard v5, `PMIx_Log`.
struct log_request {
  /// When the requester called, in seconds since the epoch.
  uint64_t timestamp = 0;
  std::vector<info> data;
  std::vector<info> directives;
};

TROUPE_MESSAGE(log_request, x.timestamp, x.data, x.directives)

} // namespace troupe
