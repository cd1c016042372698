#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <sys/types.h>

#include <memory>
#include <string>

namespace troupe {

/// Begins the variable by which processes of a launcher or daemon are known to
/// its guard.
inline constexpr auto guard_variable = "TROUPE_GUARD=";

/// Sees that no process of a launcher or daemon outlives it, whatever ends it,
/// SIGKILL too: a process of its own, in a session of its own, which sleeps
/// until its socket hangs up. If it did so without a goodbye, the guard stops,
/// then kills, all processes that have the mark in the environment that they
/// started with, what these started, and who is in the process groups that
/// they lead; then it removes the session's directory, and ends.
///
/// A process that left its group and whose environment was emptied is found
/// while its parent lives, and not if that has ended before.
///
/// Nobody is signalled by a number alone: a process is what it was when it was
/// looked at, or left alone. Source: requirement X29.
class orphan_guard {
public:
  /// Starts the guard, as a copy of this process, which it stays without
  /// anything that it has open. To be called before there are threads, and
  /// before there are secrets.
  /// @returns nothing if the system has no process or descriptor left.
  static std::shared_ptr<orphan_guard> start();

  /// Says goodbye, and waits until the guard has gone.
  ~orphan_guard();

  /// Says goodbye now if this process has no children any more, which is to
  /// adopt orphans (PR_SET_CHILD_SUBREAPER). For who ends: meanwhile the guard
  /// does, too.
  void dismiss_if_alone() noexcept;

  orphan_guard(const orphan_guard&) = delete;

  orphan_guard& operator=(const orphan_guard&) = delete;

  /// `NAME=value` for the environment of whatever is to end with us: no other
  /// process since the machine started has the same.
  const std::string& mark() const noexcept {
    return mark_;
  }

  /// Names the session's directory, which the guard removes unless somebody
  /// has locked it by then.
  void set_directory(const std::string& path);

  pid_t pid() const noexcept {
    return pid_;
  }

private:
  orphan_guard(pid_t pid, unique_fd fd, std::string mark);

  void say_goodbye() noexcept;

  pid_t pid_;
  unique_fd fd_;
  std::string mark_;
  bool is_dismissed_ = false;
};

} // namespace troupe
