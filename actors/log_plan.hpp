#pragma once

#include "messages/connection.hpp"
#include "messages/log.hpp"
#include "messages/query.hpp"
#include "messages/status.hpp"

namespace troupe {

/// What a log request comes to.
struct log_plan {
  /// One entry per channel asked for, in the order of the request.
  std::vector<log_entry> entries;

  /// Data for which this node has no channel: the host may have one.
  std::vector<info> others;

  /// Stop at the first channel that works. Source: Standard v5, PMIX_LOG_ONCE.
  bool once = false;

  /// `success`, `not_supported` if there is a kind of data for which this node
  /// has no channel, `bad_param` if a value has the wrong type.
  status code = status::success;

  /// Names what is wrong.
  std::string reason;
};

/// Sorts the data of a log request by channel and applies its directives.
/// Source: PMIx Standard v5, `PMIx_Log` and "Log attributes".
log_plan plan_log(const requester& who, const log_request& request);

} // namespace troupe
