#pragma once

#include "adapters/loop/loop_event.hpp"

#include <optional>

namespace troupe {

class event_loop;

/// Calls back while a descriptor can be read or written. Level triggered: the
/// callback comes again in every pass of the loop until the cause is gone or
/// the direction is disabled. An error or a hang-up counts as readable and as
/// writable. Starts with both directions disabled.
///
/// The callbacks may do anything, also destroy the watch; they must not throw.
/// For the thread of the loop only.
class fd_watch {
public:
  using callback = std::function<void()>;

  /// @param fd          Descriptor to watch; not owned. Destroy the watch
  /// before
  ///                    closing it.
  /// @param on_readable May be empty if reading is never enabled.
  /// @param on_writable May be empty if writing is never enabled.
  fd_watch(event_loop& loop, int fd, callback on_readable,
           callback on_writable = {});

  /// Starts calling back while the descriptor is readable.
  /// @returns whether the kernel can watch the descriptor; it refuses regular
  ///          files, which are always ready.
  bool enable_read() noexcept;

  void disable_read() noexcept;

  /// Starts calling back while the descriptor is writable.
  /// @returns as `enable_read`.
  bool enable_write() noexcept;

  void disable_write() noexcept;

  bool reads() const noexcept {
    return reads_;
  }

  bool writes() const noexcept {
    return writes_;
  }

private:
  std::optional<loop_event> read_;
  std::optional<loop_event> write_;
  bool reads_ = false;
  bool writes_ = false;
};

} // namespace troupe
