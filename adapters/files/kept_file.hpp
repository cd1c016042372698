#pragma once

#include "adapters/files/directory.hpp"
#include "base/journal.hpp"

#include <caf/expected.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace troupe {

namespace defaults {

/// Bytes of a file that is kept.
inline constexpr size_t kept_file_bytes = size_t{64} << 20;

/// Calls that wait for a content to be on disk.
inline constexpr size_t kept_file_waiting = 1024;

} // namespace defaults

class thread_pool;

/// A file of ours whose content is replaced as a whole: who reads it finds an
/// earlier content or a later one. It is readable to its user alone.
class kept_file {
public:
  /// @param path The directory has to be there, and be such that nobody can
  ///             take files of ours away, see `directory`; the file need not.
  /// @param pool Outlives it.
  /// @returns `no_permissions` for a file of somebody else's, or that others
  ///          may read or write; `bad_param` for one that is too long;
  ///          `not_found` for a directory that cannot be used.
  static caf::expected<std::shared_ptr<kept_file>>
  open(const std::string& path, thread_pool& pool, journal log);

  /// What it held when it was opened; empty: nothing.
  const std::string& found() const noexcept {
    return found_;
  }

  /// The same, and nothing is left of it in memory.
  std::string take_found() noexcept {
    return std::exchange(found_, {});
  }

  /// Replaces the content, off the loop. Of several the last one stays.
  /// @param then Called on the loop when this or a later content is on disk, or
  ///             cannot be written: the log says why. At once if the disk hangs
  ///             and too many wait.
  void keep(std::string content, std::function<void()> then);

private:
  struct state;

  explicit kept_file(std::shared_ptr<state> x, std::string found);

  std::shared_ptr<state> state_;
  std::string found_;
};

} // namespace troupe
