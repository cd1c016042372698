#pragma once

#include "adapters/files/file_look.hpp"
#include "messages/actors.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// Threads that look at files, and how many of them may hang for one user
/// (L21).
inline constexpr size_t file_check_threads = 16;
inline constexpr size_t file_check_threads_per_user = 4;

/// How long a mount may take for a batch of files before they count as timed
/// out; it is asked again once it has answered. Source: guarantees 5.9, MON-4.
inline constexpr auto file_check_patience = 1s;

/// Bytes of the kernel's list of mounts, and how old what was read of it may
/// be.
inline constexpr size_t mount_table_bytes = size_t{8} << 20;
inline constexpr auto mount_table_age = 1s;

} // namespace defaults

class loop_system;
class thread_pool;

/// How much looks at files may take (L21).
struct file_check_limits {
  size_t threads = defaults::file_check_threads;
  size_t hung_per_user = defaults::file_check_threads_per_user;
  std::chrono::milliseconds patience = defaults::file_check_patience;
};

/// What a FILE CHECKER works with.
struct file_checker_options {
  using poster =
    std::function<bool(std::function<void()> work, std::function<void()> done)>;

  /// `thread_pool::post`: for looks, which may hang, and for the list of
  /// mounts, which does not. `false` once the threads are gone.
  poster look_on;
  poster read_on;

  /// The kernel's list of mounts, see `mount_table`; called on a thread.
  std::function<std::string()> mounts;

  /// Looks at a path with the rights of the calling thread; empty: `look_at`.
  std::function<look_result(const std::string& point, const std::string& path)>
    look;

  file_check_limits limits = {};
};

/// Looks at files on threads, one batch per mount and tick.
/// Source: guarantees 5.9, MON-4; X32.
file_checker_actor spawn_file_checker(caf::actor_system& sys,
                                      file_checker_options options);

/// A FILE CHECKER with threads of its own, so that file systems that hang take
/// none away from others. For the thread of the loop.
class file_checking {
public:
  /// @param loop Must outlive the object.
  file_checking(loop_system& loop, const file_check_limits& limits);

  /// Ends the actor. Threads that hang are left behind.
  ~file_checking();

  file_checking(const file_checking&) = delete;

  file_checking& operator=(const file_checking&) = delete;

  const file_checker_actor& checker() const noexcept {
    return checker_;
  }

private:
  struct threads;

  std::shared_ptr<threads> threads_;
  file_checker_actor checker_;
};

} // namespace troupe
