#pragma once

#include "adapters/loop/loop_event.hpp"

#include <cstddef>
#include <functional>
#include <list>

namespace troupe {

class event_loop;

/// Lets those that have much to read take turns: in each pass of the loop about
/// as much is read as is worth a message, after the descriptors that are ready
/// have been called. So many streams at full rate do not hold up whoever else
/// waits for the loop longer than one of them does.
///
/// For the thread of the loop only.
class read_turns {
public:
  /// What is read in one pass; a reading that has begun is not cut short.
  static constexpr size_t bytes_per_pass = size_t{64} << 10;

  /// What a reading counts for at least.
  static constexpr size_t least_bytes = size_t{4} << 10;

  /// Has turns. Leaves the queue when it is destroyed.
  class reader {
  public:
    /// Reads once; must not destroy the reader. @returns how many bytes.
    using callback = std::function<size_t()>;

    reader(read_turns& turns, callback read);

    ~reader();

    reader(const reader&) = delete;

    reader& operator=(const reader&) = delete;

    /// Reads when it is its turn; called once more before that, has no effect.
    void join();

    /// Wants no turn.
    void leave() noexcept;

  private:
    friend class read_turns;

    read_turns& turns_;
    callback read_;
    bool is_waiting_ = false;
  };

  explicit read_turns(event_loop& loop);

  read_turns(const read_turns&) = delete;

  read_turns& operator=(const read_turns&) = delete;

private:
  void run();

  std::list<reader*> waiting_;
  bool is_due_ = false;
  loop_event next_;
};

} // namespace troupe
