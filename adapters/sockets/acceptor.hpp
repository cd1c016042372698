#pragma once

#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>

namespace troupe {

class event_loop;

/// Takes connections from listening sockets, a bounded number in one pass of
/// the loop, and then rests for as long as that took: a storm of them has half
/// of the thread at most, the others are served meanwhile. Pauses while
/// descriptors are few: they are left to the rest of the process, and who
/// connects waits in the kernel. For the thread of the loop only. Source:
/// guarantees, limit L20.
class acceptor {
public:
  struct bounds {
    /// Descriptors that connections leave to the rest of the process.
    size_t descriptors_in_reserve = 64;

    /// How often to look whether there are enough again.
    std::chrono::milliseconds retry{100};

    /// Connections to take in one pass of the loop: a storm of them must not
    /// hold up those that are there.
    size_t turn = 1;
  };

  /// The callbacks must not close the acceptor.
  struct callbacks {
    /// A connection came in at a door.
    std::function<void(unique_fd socket, size_t door)> on_connection;

    /// Accepting waits for descriptors from now on.
    std::function<void()> on_pause;
  };

  acceptor(event_loop& loop, const bounds& limits, callbacks handlers);

  acceptor(const acceptor&) = delete;

  acceptor& operator=(const acceptor&) = delete;

  /// Takes connections from a listening socket that does not block. The doors
  /// are counted from 0.
  void add(unique_fd listening);

  bool has_doors() const noexcept {
    return !doors_.empty();
  }

  /// Closes all doors.
  void close();

private:
  /// A listening socket.
  struct door {
    door(acceptor& parent, unique_fd x, size_t number);

    unique_fd socket;
    size_t number;
    fd_watch watch;
  };

  void accept(const door& from);
  void take_from(const door& from);
  void rest(std::chrono::nanoseconds time);
  void pause();
  void go_on();

  event_loop& loop_;
  bounds bounds_;
  callbacks handlers_;
  std::list<door> doors_;

  /// Time since the last rest that was spent with connections, and when that
  /// was last.
  std::chrono::nanoseconds worked_{0};
  std::chrono::steady_clock::time_point last_end_;

  /// Ends a rest, and looks whether there are descriptors again.
  timer retry_;
};

} // namespace troupe
