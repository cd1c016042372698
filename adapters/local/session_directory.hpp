#pragma once

#include "adapters/files/directory.hpp"

#include <caf/expected.hpp>

#include <string>
#include <vector>

namespace troupe {

/// The private directory of a session, `<base>/troupe-<uid>/<pid>`: mode 0700,
/// ours, and removed with all that is in it when the object goes.
///
/// Whoever may write in `<base>` can take the name `troupe-<uid>` first. What
/// is not a private directory of ours there is left alone, and the sessions of
/// the user go to `<base>/troupe-<uid>.<letters by chance>`, where all tools
/// find them: ours by the beginning of the name, those of libpmix because they
/// search the tree.
///
/// It is locked (`flock`) while it is in use; systemd-tmpfiles leaves locked
/// directories alone. What sessions of the same user left behind, recognised by
/// the missing lock, is removed on creation: tools search the whole tree and
/// give up if they find several servers.
class session_directory {
public:
  /// Creates the directory, and the user's above it if that is missing.
  /// @param base An existing directory such as `system_tmpdir()`.
  /// @returns `no_permissions` if others may remove what is in `base`;
  ///          `in_errno` if the system refuses.
  static caf::expected<session_directory> create(const std::string& base);

  /// The directories in `base` that have the sessions of this user.
  static std::vector<directory> of_user(const directory& base);

  session_directory(session_directory&&) noexcept = default;

  session_directory& operator=(session_directory&& other) noexcept;

  ~session_directory();

  /// Makes the directory anew if somebody has removed or moved it, and what was
  /// above it; what was in it is lost.
  /// @returns whether that was so; its path may be another then. Else an error
  ///          as of `create`.
  caf::expected<bool> renew();

  /// Sets its times to now.
  void touch() const noexcept;

  const std::string& path() const noexcept {
    return self_.path();
  }

  /// Why it is not where one expects it, in a sentence; mostly empty.
  const std::string& notice() const noexcept {
    return notice_;
  }

  const directory& self() const noexcept {
    return self_;
  }

private:
  session_directory() = default;

  void remove() noexcept;

  std::string base_;
  directory parent_;
  directory self_;
  std::string name_;
  std::string notice_;
};

} // namespace troupe
