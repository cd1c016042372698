#pragma once

#include "messages/connection.hpp"
#include "messages/inspect.hpp"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace troupe {

/// Looks at files with the rights of a user, off the loop.
///
/// Answered when all paths are known or have timed out, so what lies on several
/// mounts is better asked mount by mount (`file_stamp::mount`). Paths that are
/// asked for within a tick are looked at together, one batch per mount.
/// Source: guarantees 5.9, MON-4; X32.
struct check_files {
  /// Absolute; at most `defaults::file_check_paths`.
  std::vector<std::string> paths;

  /// Whose rights decide what may be seen. The daemon's own user and, if the
  /// daemon is root, any other; else nothing may be.
  credentials who;
};

TROUPE_MESSAGE(check_files, x.paths, x.who)

/// What became of one look at a path.
enum class file_state : uint8_t {
  regular,       ///< a regular file: the rest of the stamp is filled in
  missing,       ///< nothing has that name
  not_regular,   ///< a directory, FIFO, device, or a file of the kernel
  no_permission, ///< something that the user may not see
  timed_out,     ///< its file system does not answer
  failed,        ///< any other error, such as a loop of symbolic links
};

/// What one look at a path has found. A file that was replaced has another
/// device or inode than before.
struct file_stamp {
  file_state state = file_state::failed;

  uint64_t device = 0;
  uint64_t inode = 0;

  /// Bytes.
  uint64_t size = 0;

  /// Last access and last modification, in nanoseconds since the epoch.
  int64_t accessed = 0;
  int64_t modified = 0;

  /// Whether reading the file changes `accessed`: not where the file system is
  /// mounted read-only or without access times. Where they are kept relative to
  /// modifications (`relatime`) only the first access after a modification, or
  /// in a day, may count.
  bool keeps_access_time = false;
  bool access_time_is_relative = false;

  /// Paths with the same number are on one mount. Known whenever the path could
  /// be followed; 0 else.
  uint64_t mount = 0;
};

TROUPE_MESSAGE(file_stamp, x.state, x.device, x.inode, x.size, x.accessed,
               x.modified, x.keeps_access_time, x.access_time_is_relative,
               x.mount)

/// Answers `check_files`, in its order.
struct file_stamps {
  std::vector<file_stamp> stamps;
};

TROUPE_MESSAGE(file_stamps, x.stamps)

/// Whether two looks at a path have found the same file.
inline bool is_same_file(const file_stamp& x, const file_stamp& y) {
  return x.device == y.device && x.inode == y.inode;
}

} // namespace troupe
