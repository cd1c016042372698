#pragma once

#include "messages/files.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A mounted file system.
struct mount_entry {
  /// The kernel's number, never 0.
  uint64_t id = 0;

  /// Where it is mounted: absolute, without symbolic links.
  std::string point;

  /// Such as `ext4`.
  std::string type;

  /// Whether reading a file changes its access time, and whether only the first
  /// time after a modification, or in a day.
  bool keeps_access_time = true;
  bool access_time_is_relative = false;

  /// Whether its files are made up by the kernel, such as those of /proc.
  bool is_of_kernel = false;
};

/// Which mount a path is on, by its text alone: a file system that hangs is not
/// touched.
class mount_table {
public:
  mount_table() = default;

  /// @param text /proc/self/mountinfo. Lines that make no sense are skipped.
  /// Source: proc(5).
  explicit mount_table(std::string_view text);

  /// @param path Absolute. A part behind `..` is not looked at.
  /// @returns the mount that was last mounted at the longest part of `path`;
  ///          null if there is none.
  const mount_entry* find(std::string_view path) const;

  const std::vector<mount_entry>& entries() const noexcept {
    return entries_;
  }

private:
  std::vector<mount_entry> entries_;
};

/// Whether `path` is `point`, or below it.
bool is_below(std::string_view path, std::string_view point);

/// A path without empty and `.` components, and without a slash at its end.
std::string tidy_path(std::string_view path);

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
