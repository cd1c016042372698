#pragma once

#include "adapters/sockets/openssl_handles.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <string_view>

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

/// Largest certificate that is taken; ours take 600 bytes.
constexpr size_t max_certificate_size = 4096;

/// The one certificate of each node, as it came over a channel that is trusted
/// already, such as the resource manager's own: then no authority has to vouch
/// for it. May grow while contexts use it; for one thread only.
class pinned_certificates {
public:
  /// Pins the certificate of a node.
  /// @param rank, bytes  the node, and its certificate as DER.
  /// @returns `bad_param` if it is no certificate of that node, or `exists` if
  ///          another one is pinned.
  caf::error add(uint32_t rank, std::string_view bytes);

  /// The certificate of a node; null if none is pinned.
  const X509* find(uint32_t rank) const;

  size_t size() const noexcept {
    return known_.size();
  }

private:
  std::map<uint32_t, openssl_ptr<X509>> known_;
};

/// A certificate as DER.
caf::expected<std::string> encode_certificate(const X509* x);

} // namespace troupe
