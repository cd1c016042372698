#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>

namespace troupe {

namespace defaults {

/// Connections at a time; more are closed at once.
inline constexpr size_t tls_connections = 64;

/// Seconds that a handshake, a read or a write may take, and that nothing may come
/// from either end.
inline constexpr int tls_patience_s = 5;
inline constexpr int tls_idle_s = 60;

} // namespace defaults

/// Takes TLS on an address of this node and passes what is in it on to a port of
/// its loopback. Debian's civetweb loads an OpenSSL that Debian does not have any
/// more, so that its own TLS does not start. TLS 1.2 and later.
class tls_front {
public:
  struct settings {
    /// Numeric, IPv4 or IPv6.
    std::string address;

    /// 0: any that is free.
    uint16_t port = 0;

    /// A file in PEM: the certificate, those that lead to its root, and the key.
    std::string certificate;

    /// Where it passes what comes.
    uint16_t target = 0;
  };

  /// @returns why it cannot listen, or what is wrong with the certificate.
  static caf::expected<std::unique_ptr<tls_front>> start(const settings& x);

  /// Closes all connections and waits for their threads.
  ~tls_front();

  tls_front(const tls_front&) = delete;

  tls_front& operator=(const tls_front&) = delete;

  /// Where it listens.
  uint16_t port() const {
    return port_;
  }

private:
  struct context;
  struct connection;

  tls_front();

  void accept_all();
  void forget_ended();

  std::unique_ptr<context> context_;
  unique_fd listener_;

  /// Readable from the end on.
  unique_fd stop_;
  uint16_t port_ = 0;
  uint16_t target_ = 0;

  /// Of the accepting thread, but for the destructor.
  std::list<connection> connections_;
  std::thread acceptor_;
};

} // namespace troupe
