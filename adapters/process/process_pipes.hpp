#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "config/defaults.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <cstddef>
#include <deque>
#include <memory>

namespace troupe {

class event_loop;

/// Our ends of the standard streams of a process that somebody else has
/// started; those that are missing are not forwarded.
struct process_ends {
  proc_id proc;

  /// Its process number, to be shown; 0: unknown.
  uint32_t pid = 0;

  /// Where its input is written: a pipe, which does not block.
  unique_fd in = {};

  /// Where its output is read: pipes, which do not block.
  unique_fd out = {};
  unique_fd err = {};
  unique_fd diag = {};
};

/// Carries the standard streams of processes that somebody else has started:
/// what they write goes to a receiver, each stream ends with an empty
/// `process_output`, and a process waits when the receiver does not answer.
/// A process that comes again replaces the one before it. For the thread of the
/// loop. Source: guarantees 5.7.
class process_pipes {
public:
  /// @param waiting Bytes of all streams that receivers have not answered; see
  ///                `process_launcher_settings::total_window`.
  process_pipes(caf::actor_system& sys, event_loop& loop,
                size_t waiting = defaults::io_window_total);

  /// Closes all of them.
  ~process_pipes();

  process_pipes(const process_pipes&) = delete;
  process_pipes& operator=(const process_pipes&) = delete;

  void add(process_ends ends, output_receiver_actor receiver);

  const process_pipes_actor& writer() const {
    return actor_;
  }

private:
  struct arrival {
    process_ends ends;
    output_receiver_actor receiver;
  };

  struct state;

  using self_pointer = process_pipes_actor::stateful_pointer<state>;

  static process_pipes_actor::behavior_type
  behavior(self_pointer self, event_loop* loop,
           std::shared_ptr<std::deque<arrival>> arrivals, size_t waiting);

  /// What the actor has not taken.
  std::shared_ptr<std::deque<arrival>> arrivals_;
  process_pipes_actor actor_;
};

} // namespace troupe
