#pragma once

#include "adapters/local/directory.hpp"

#include <caf/expected.hpp>

#include <string>

namespace troupe {

/// The private directory of a session, `<base>/troupe-<uid>/<pid>`: mode 0700,
/// ours, and removed with all that is in it when the object goes.
///
/// It is locked (`flock`) while it is in use. What sessions of the same user
/// left behind, recognised by the missing lock, is removed on creation: tools
/// search the whole tree and give up if they find several servers.
class session_directory {
public:
  /// Creates the directory, and `troupe-<uid>` above it if that is missing.
  /// @param base An existing directory such as `system_tmpdir()`.
  /// @returns `no_permissions` if anything on the way belongs to somebody else,
  ///          is a link, or can be written by others; `in_errno` if the system
  ///          refuses.
  static caf::expected<session_directory> create(const std::string& base);

  session_directory(session_directory&&) noexcept = default;

  session_directory& operator=(session_directory&& other) noexcept;

  ~session_directory();

  const std::string& path() const noexcept {
    return self_.path();
  }

  const directory& self() const noexcept {
    return self_;
  }

private:
  session_directory(directory parent, directory self, std::string name)
    : parent_(std::move(parent)), self_(std::move(self)),
      name_(std::move(name)) {
    // nop
  }

  void remove() noexcept;

  directory parent_;
  directory self_;
  std::string name_;
};

} // namespace troupe
