#pragma once

#include "adapters/log/mail.hpp"

#include <cstdint>
#include <string>

namespace troupe {

/// Writes one entry to the system's log. Speaks to its socket directly, because
/// syslog(3) does not tell whether somebody took the entry. May wait a second.
/// @param socket   Where the daemon listens, usually `/dev/log`.
/// @param priority 0 to 7; the facility is that of user programs.
/// @returns `not_supported` if no daemon listens.
/// Source: RFC 3164, section 4.1, as local programs write it: without host.
delivery_outcome write_syslog(const std::string& socket,
                              const std::string& name, uint8_t priority,
                              const std::string& text);

} // namespace troupe
