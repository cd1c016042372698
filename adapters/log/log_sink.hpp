#pragma once

#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace troupe {

class fd_writer;

class thread_pool;

struct log_sink_settings {
  std::shared_ptr<fd_writer> out;
  std::shared_ptr<fd_writer> err;

  /// Under which name the entries stand in syslog.
  std::string syslog_name = "troupe";

  /// The socket of syslog: without it there is no syslog on the node.
  std::string syslog_socket = "/dev/log";

  /// The program that delivers mail; it must understand `-t`.
  std::string sendmail = "/usr/sbin/sendmail";

  /// How long it may take.
  std::chrono::seconds mail_limit{30};
};

/// The state of a LOG SINK actor.
struct log_sink_state {
  static inline const char* name = "log-sink";

  log_sink_settings settings;
};

/// Writes to the node's logs; answered when the text has been written or handed
/// over. On a terminal and in syslog control characters are escaped. Refused
/// with
///   - `bad_param` for a mail without address, or with a line break in an
///     address or the subject,
///   - `not_supported` if there is no syslog, or no program for mail,
///   - `resource_busy` if too much is waiting already,
///   - `timeout` or `error` if the mail program fails.
log_sink_actor::behavior_type
log_sink(log_sink_actor::stateful_pointer<log_sink_state> self,
         thread_pool* pool, log_sink_settings settings);

} // namespace troupe
