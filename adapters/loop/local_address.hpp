#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

namespace troupe {

/// The address of the local socket at `path`.
/// @returns nothing, and ENAMETOOLONG in `errno`, if the path is too long for
///          one.
inline std::optional<sockaddr_un> local_address(const std::string& path) {
  auto result = sockaddr_un{};
  result.sun_family = AF_UNIX;
  if (path.size() >= sizeof(result.sun_path)) {
    errno = ENAMETOOLONG;
    return std::nullopt;
  }
  std::copy(path.begin(), path.end(), result.sun_path);
  return result;
}

} // namespace troupe
