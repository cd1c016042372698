#pragma once

#include "adapters/loop/timer.hpp"
#include "adapters/metrics/latency_histogram.hpp"

#include <chrono>
#include <cstdint>

namespace troupe {

class event_loop;

/// Measures how late an event loop does what is due: a few times a second, at
/// times that nothing else keeps step with. For the thread of the loop only.
class loop_probe {
public:
  /// @param loop Must outlive the probe.
  explicit loop_probe(event_loop& loop);

  const latency_histogram& seen() const noexcept {
    return seen_;
  }

private:
  void arm();

  timer timer_;
  std::chrono::steady_clock::time_point due_;
  latency_histogram seen_;
  uint32_t drawn_ = 1;
};

} // namespace troupe
