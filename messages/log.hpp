#pragma once

#include "messages/inspect.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace troupe {

/// Where a log entry goes.
/// Source: PMIx Standard v5, "Log attributes" (PMIX_LOG_STDERR and so on).
enum class log_channel : uint8_t {
  stdout_,
  stderr_,
  local_syslog,
  global_syslog,
  email,
};

/// A mail to send. Source: PMIx Standard v5, PMIX_LOG_EMAIL_ADDR and so on.
struct mail_envelope {
  /// Comma-separated addresses.
  std::string to;
  std::optional<std::string> from;
  std::optional<std::string> subject;
};

TROUPE_MESSAGE(mail_envelope, x.to, x.from, x.subject)

/// One text for one channel. Refused with `not_supported` if the channel cannot
/// be used on this node, `bad_param` if a mail has no address.
struct log_entry {
  log_channel channel = log_channel::stderr_;
  std::string text;

  /// A priority of syslog(3), 0 to 7.
  uint8_t priority = 6;

  /// Only for `email`.
  mail_envelope envelope;
};

TROUPE_MESSAGE(log_entry, x.channel, x.text, x.priority, x.envelope)

} // namespace troupe
