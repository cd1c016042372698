#pragma once

#include "messages/log.hpp"
#include "messages/status.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace troupe {

/// How something that was tried on another thread ended.
struct delivery_outcome {
  status code = status::error;
  std::string reason;
};

/// Writes a mail as sendmail reads it: header fields, an empty line, the text.
/// Recipients are a comma-separated list; a subject beyond ASCII is encoded.
/// @returns nothing if an address or the subject is not one line of text, or if
///          there is no address or more than 256: what follows a line break
///          would be a header field that somebody smuggled in. Source: RFC
///          5322, section 2.2.
std::optional<std::string> compose_mail(const mail_envelope& envelope,
                                        const std::string& text);

/// Hands `mail` to the program `sendmail -t` and waits for it.
delivery_outcome send_mail(const std::string& sendmail, const std::string& mail,
                           std::chrono::milliseconds limit);

} // namespace troupe
