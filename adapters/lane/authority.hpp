#pragma once

#include "adapters/lane/node_credentials.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace troupe {

/// When certificates are valid, relative to the present.
struct certificate_times {
  std::chrono::seconds from;
  std::chrono::seconds until;

  /// From the defaults of the configuration.
  certificate_times();

  certificate_times(std::chrono::seconds from, std::chrono::seconds until)
    : from(from), until(until) {
    // nop
  }
};

/// The authority of one DVM, made when the DVM starts: it vouches for the DVM's
/// nodes and for nobody else. Its key is in memory only, so it ends with the
/// process that made it; who has no credentials by then gets none any more. For
/// DVMs that nobody launches it can be kept (`encode`): whoever reads it is a
/// node of the DVM.
///
/// All keys are on the curve P-256: fast, and allowed on machines in FIPS mode.
class authority {
public:
  /// @param dvm Name of the DVM; see `node_identity`.
  static caf::expected<authority> make(std::string dvm,
                                       certificate_times times = {});

  const std::string& dvm() const noexcept {
    return dvm_;
  }

  /// Makes a key and a certificate for a node.
  /// @param user Whoever gets the key acts for this user; none: nobody's.
  /// @returns `bad_param` if the name cannot be one.
  caf::expected<node_credentials>
  issue(uint32_t rank, const std::string& name, certificate_times times = {},
        std::optional<uint32_t> user = {}) const;

  /// All of it, its key included.
  caf::expected<secret> encode() const;

  /// Reads what `encode` wrote. Wiping `bytes` is left to the caller.
  /// @returns `bad_param` for anything else.
  static caf::expected<authority> decode(std::string_view bytes);

private:
  authority() = default;

  std::string dvm_;
  openssl_ptr<X509> certificate_;
  openssl_ptr<EVP_PKEY> key_;
};

} // namespace troupe
