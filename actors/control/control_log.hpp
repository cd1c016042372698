#pragma once

#include "base/pass_on.hpp"
#include "messages/connection.hpp"
#include "messages/control.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

namespace control_key {

/// In the answer to a request with attributes for logs: an array of infos, for
/// each channel its key and the status of what was written to it.
inline constexpr std::string_view log = "troupe.control.log";

} // namespace control_key

/// What job control with attributes for logs works with.
struct control_log_means {
  /// Writes to logs of the requester's node.
  std::function<void(log_request, completion<ack>)> write;

  /// Carries out what is left of the request.
  std::function<void(job_control_request, completion<info_result>)> perform;

  /// Seconds since the epoch; empty: unknown.
  std::function<int64_t()> now;
};

/// Whether the directives of a job control request have a channel of
/// `PMIx_Log`, or a mail's address.
bool asks_for_log(const std::vector<info>& directives);

/// Carries out a job control request and writes to the logs that it names who
/// asked for what, and then what came of it, each with the time. The value of a
/// channel is a text that goes before. PMIX_LOG_EMAIL_ADDR and its neighbours
/// may stand in PMIX_LOG_EMAIL or beside it, or without it.
///
/// A channel that does not work hinders nothing: the answer names it, see
/// `control_key::log`. With PMIX_INFO_REQD the request is refused with the
/// channel's status before it does anything.
/// @param done Gets the outcome of the request itself when all is written;
///             `bad_param` for a value that no channel takes, and for a mail
///             without address.
/// Source: RFC0015: "Users may also wish to know when job control operations
/// have been requested and/or performed."
void control_and_log(const requester& who, job_control_request request,
                     control_log_means out, completion<info_result> done);

} // namespace troupe
