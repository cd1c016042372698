#pragma once

#include "adapters/lane/openssl_handles.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace troupe {

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
