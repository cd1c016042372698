#pragma once

#include "adapters/lane/openssl_handles.hpp"

#include <chrono>
#include <ctime>

namespace troupe {

/// The time that certificates are judged by. It was the wall clock's when the node
/// started, and passes as steady time does: who sets the wall clock parts no nodes
/// that have found each other. A certificate is also good by what the wall clock
/// says now, since that may have been wrong before.
/// Source: guarantees 3, "wall clock jumps (any size)".
class certificate_clock {
public:
  /// A moment, by both clocks.
  struct moment {
    time_t wall = 0; // Seconds since 1970.
    std::chrono::seconds steady{0};
  };

  /// That of this process, which starts with the first call.
  static const certificate_clock& of_process();

  explicit certificate_clock(moment start) : start_(start) {
    // nop
  }

  /// Whether a certificate is within its times.
  bool accepts(const X509* x, moment now) const;

  /// The same at present.
  bool accepts(const X509* x) const;

private:
  moment start_;
};

} // namespace troupe
