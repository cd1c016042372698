#pragma once

#include "base/journal.hpp"
#include "base/pass_on.hpp"
#include "messages/connection.hpp"
#include "messages/log.hpp"
#include "messages/query.hpp"
#include "messages/status.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A log request, sorted by channel.
struct log_plan {
  /// One entry per channel asked for, in the order of the request.
  std::vector<log_entry> entries;

  /// Data for which this node has no channel: the host may have one.
  std::vector<info> others;

  /// Whether something goes nowhere, whatever the host has.
  bool drops = false;

  /// Stop at the first channel that works. Source: Standard v5, PMIX_LOG_ONCE.
  bool once = false;

  /// `success`, `not_supported` if there is a kind of data for which this node
  /// has no channel, `bad_param` if a value has the wrong type.
  status code = status::success;

  /// The name of the fault.
  std::string reason;
};

/// Sorts the data of a log request by channel and applies its directives.
/// Source: PMIx Standard v5, `PMIx_Log` and "Log attributes".
log_plan plan_log(const requester& who, const log_request& request);

/// The means to write log entries.
struct log_effects {
  /// Writes one entry.
  std::function<void(log_entry, completion<ack>)> write;

  /// Gives the host data for which this node has no channel.
  std::function<void(const requester&, log_request, completion<ack>)> ask_host;
  journal log;
};

/// Writes the data of a log request to one channel after the other.
/// @param reply Gets `partial_success` if only some of it could be written.
void write_log(const requester& who, const log_request& request,
               const log_effects& out, completion<ack> reply);

} // namespace troupe
