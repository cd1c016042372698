#pragma once

#include "adapters/lane/key_memory.hpp"
#include "adapters/sockets/openssl_handles.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Who a node is: what its certificate says and its private key proves.
struct node_identity {
  /// The DVM it belongs to: 1 to 64 letters, digits, `.`, `_` and `-`.
  std::string dvm;

  /// Its number within the DVM.
  uint32_t rank = 0;

  /// Its name within the DVM: 1 to 255 of the same characters.
  std::string name;

  /// The user that it belongs to, if its authority says so. No part of what it is
  /// called: daemons that know nothing of users understand each other.
  std::optional<uint32_t> user{};
};

inline bool operator==(const node_identity& x, const node_identity& y) {
  return x.rank == y.rank && x.dvm == y.dvm && x.name == y.name;
}

inline bool operator!=(const node_identity& x, const node_identity& y) {
  return !(x == y);
}

/// The form that certificates carry and logs show:
/// `troupe:<dvm>/<rank>/<name>`.
std::string to_string(const node_identity& x);

/// Reads what `to_string` writes; anything else is refused with `bad_param`, so
/// that two texts never mean one node.
caf::expected<node_identity> parse_node_identity(std::string_view text);

/// What a node needs to prove who it is, and to check the others. Its bytes go
/// to the node by a pipe or a descriptor, never by argv, environment or file.
struct node_credentials {
  /// The certificate of the DVM's authority.
  openssl_ptr<X509> authority;

  /// The node's own certificate, signed by the authority.
  openssl_ptr<X509> certificate;

  openssl_ptr<EVP_PKEY> key;
};

/// Most bytes that credentials may take.
constexpr size_t max_credentials_size = 16384;

caf::expected<secret> encode_credentials(const node_credentials& x);

/// Reads what `encode_credentials` wrote. Wiping `bytes` is left to the caller.
/// @returns `bad_param` if anything is missing, does not belong together, or
///          follows.
caf::expected<node_credentials> decode_credentials(std::string_view bytes);

/// Reads from a pipe until its writer closes it; blocks as long, so for the
/// start of a process only.
/// @returns `bad_param` if more than `limit` bytes come.
caf::expected<secret> read_secret(int fd, size_t limit = max_credentials_size);

} // namespace troupe
