#pragma once

#include "messages/status.hpp"

#include <caf/error.hpp>

#include <cerrno>
#include <string>
#include <system_error>

namespace troupe {

/// Why a system call failed.
/// @param what What we wanted to do, such as `open /tmp`.
inline caf::error system_error(const std::string& what, int code = errno) {
  return make_error(status::in_errno,
                    what + ": " + std::generic_category().message(code));
}

} // namespace troupe
