#pragma once

#include "adapters/lane/certificates.hpp"
#include "adapters/lane/node_credentials.hpp"

#include <caf/expected.hpp>

#include <memory>
#include <optional>

namespace troupe {

/// How a node secures its lanes: TLS 1.3 and nothing older, both ends with a
/// certificate of the DVM's own authority, no resumption, no early data. Made
/// once a process; without whole and fitting credentials there is none.
/// Source: guarantees 5.3 and attack X45.
class secure_context {
public:
  /// Takes the credentials over.
  /// @returns an error if they do not fit each other; if the certificate is not
  ///          valid at present, the error says so.
  static caf::expected<std::shared_ptr<const secure_context>>
  make(const node_credentials& mine);

  /// The same among nodes without a common authority: a peer is let in with the
  /// certificate that is pinned for its rank, if it is valid now, and with no
  /// other, whoever signed it.
  /// @param peers May grow later; whom it lacks is refused.
  static caf::expected<std::shared_ptr<const secure_context>>
  make(const node_credentials& mine,
       std::shared_ptr<const pinned_certificates> peers);

  /// No security at all: everybody is who it says. Its connections are refused
  /// unless both ends are on loopback.
  /// @returns `bad_param` if `self` is not an identity.
  static caf::expected<std::shared_ptr<const secure_context>>
  make_insecure(node_identity self);

  secure_context(const secure_context&) = delete;

  secure_context& operator=(const secure_context&) = delete;

  /// Who this node is.
  const node_identity& self() const noexcept {
    return self_;
  }

  /// The certificates that are let in; null if the authority decides.
  const pinned_certificates* peers() const noexcept {
    return peers_.get();
  }

  bool is_insecure() const noexcept {
    return is_insecure_;
  }

  /// A new connection, to be configured for one side; none without security.
  openssl_ptr<SSL> new_connection() const;

private:
  secure_context() = default;

  static caf::expected<std::shared_ptr<secure_context>>
  build(const node_credentials& mine);

  node_identity self_;
  bool is_insecure_ = false;
  openssl_ptr<SSL_CTX> context_;
  std::shared_ptr<const pinned_certificates> peers_;
};

/// What one connection knows about its peer while it shakes hands. OpenSSL
/// refers to it.
struct peer_check {
  /// The DVM whose nodes are let in.
  std::string dvm;

  /// The node that is dialled; nothing on the side that listens.
  std::optional<node_identity> expected;

  /// Who the certificate says the peer is. Not proven before the handshake is
  /// over.
  std::optional<node_identity> found;

  /// Why the peer is refused; empty if OpenSSL found the reason.
  std::string refusal;
};

/// Makes `tls` look at the identity of its peer.
/// @param check Lives until the handshake is over or `tls` is gone.
void set_peer_check(SSL* tls, peer_check* check);

/// Reads the identity from the one alternative name that a certificate has, and the
/// user from its subject.
caf::expected<node_identity> identity_of(const X509* certificate);

} // namespace troupe
