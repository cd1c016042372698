#pragma once

#include "adapters/loop/timer.hpp"
#include "messages/gauge.hpp"
#include "messages/memory_source.hpp"

#include <caf/behavior.hpp>

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

/// Tells in bytes what of this process is in use (`daemon.heap`), what is free
/// in between (`daemon.heap_free`), whether or not the system has its pages, and
/// what is resident (`daemon.resident`). If the second grows and the first does not, nothing
/// leaks: memory is in pieces. Source: mallinfo2(3), proc(5).
caf::behavior memory_gauges();

} // namespace troupe
