#pragma once

#include "messages/files.hpp"

#include <string>

namespace troupe {

/// What a look at a path below a mount has found.
struct look_result {
  file_stamp stamp;

  /// The path leads to another mount: this is where; the stamp says nothing.
  std::string elsewhere;
};

/// Looks at a path without leaving the mount that it begins on, so that only
/// that mount can hang. Blocks as long as its file system does not answer. Uses
/// the rights of the thread, see `user_rights`.
/// @param point Where the mount is, see `mount_table`.
/// @param path Below `point`.
look_result look_at(const std::string& point, const std::string& path);

} // namespace troupe
