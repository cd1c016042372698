#pragma once

#include <sys/types.h>

#include <functional>

namespace troupe {

/// A child process that somebody waits for himself. The process launcher adopts
/// orphans and reaps every child it does not know; this keeps it away from a
/// child that is not its own. Safe on any thread.
class awaited_child {
public:
  /// Calls `spawn`, which starts the child and returns its number, or -1 if it
  /// could not. The launcher does not look meanwhile.
  explicit awaited_child(const std::function<pid_t()>& spawn);

  awaited_child(const awaited_child&) = delete;

  awaited_child& operator=(const awaited_child&) = delete;

  /// The child has been reaped by then.
  ~awaited_child();

  pid_t pid() const noexcept {
    return pid_;
  }

  /// @returns whether somebody waits for `pid`.
  static bool exists(pid_t pid);

private:
  pid_t pid_;
};

} // namespace troupe
