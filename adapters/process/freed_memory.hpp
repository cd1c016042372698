#pragma once

#include "adapters/loop/timer.hpp"

namespace troupe {

class event_loop;

/// What was freed and is kept for reuse. What passes through is allocated and
/// freed in blocks of 64 KiB, and is kept; what jobs have left behind goes back
/// to the system when no job has run for a while. libc does so by itself only
/// for what is at the end of the heap, and little of it is. For the thread of
/// the loop only.
class freed_memory {
public:
  explicit freed_memory(event_loop& loop);

  /// A process starts.
  void keep() noexcept {
    rest_.cancel();
  }

  /// No process is left.
  void give_back_later();

private:
  timer rest_;
};

} // namespace troupe
