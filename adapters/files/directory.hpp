#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Tells one file from another, whatever its name.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
};

inline bool operator==(const file_identity& x, const file_identity& y) {
  return x.device == y.device && x.inode == y.inode;
}

/// An open directory: all that is done in it is relative to its descriptor, so
/// nobody who swaps a path leads us elsewhere. Names hold no `/`.
/// Source: CVE-2023-41915; guarantees, attacks X6 and X7.
class directory {
public:
  directory() = default;

  /// Opens a directory in which nobody can take our files away: it belongs to
  /// us or to root, and if others may write in it, it is sticky. A link is
  /// followed only if it belongs to us or to root.
  static caf::expected<directory> open(const std::string& path);

  /// Opens a directory below that is ours alone.
  /// @returns `no_permissions` if it is open to others, or no directory.
  caf::expected<directory> open_private(std::string_view name) const;

  /// Creates a directory below, mode 0700.
  /// @returns `exists` if there is anything of that name.
  caf::expected<directory> create_private(std::string_view name) const;

  int fd() const noexcept {
    return fd_.get();
  }

  explicit operator bool() const noexcept {
    return static_cast<bool>(fd_);
  }

  /// For messages; never used to reach the directory.
  const std::string& path() const noexcept {
    return path_;
  }

  std::string path_of(std::string_view name) const;

  /// What `name` is; nothing if there is none.
  std::optional<file_identity> identify(std::string_view name) const;

  /// What the directory itself is.
  std::optional<file_identity> identity() const;

  /// The names in it, at most `max`.
  std::vector<std::string> list(size_t max) const;

  /// Sets the times of the directory to now, so that nobody who removes what
  /// is old takes it for that.
  void touch() const noexcept;

  /// The same for file `name`, which no link leads away from.
  void touch(std::string_view name) const noexcept;

  /// Removes file `name` if it still is `what`.
  void unlink(std::string_view name, const file_identity& what) const noexcept;

  /// Removes directory `name`, if it still is `what`, with all that is in it on
  /// the same file system. Follows no link.
  void remove_tree(std::string_view name,
                   const file_identity& what) const noexcept;

private:
  directory(unique_fd fd, std::string path)
    : fd_(std::move(fd)), path_(std::move(path)) {
    // nop
  }

  unique_fd fd_;
  std::string path_;
};

} // namespace troupe
