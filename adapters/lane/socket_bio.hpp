#pragma once

#include <openssl/bio.h>

#include <cstddef>
#include <cstdint>

namespace troupe {

/// A socket below OpenSSL, and what went through it.
struct socket_traffic {
  /// Does not block; not owned.
  int fd = -1;

  /// Bytes that may still be read before OpenSSL is told that there are none.
  size_t readable = 0;

  /// The last read has taken all there was: the next one would find nothing.
  /// Who waits until the socket is readable again takes this back.
  bool is_drained = false;

  uint64_t received = 0;
  uint64_t sent = 0;

  /// The peer has closed its side.
  bool is_closed = false;

  /// `errno` of what failed; 0 if nothing did.
  int failure = 0;
};

/// Lets OpenSSL use a socket. OpenSSL's own way knows no limits and would raise
/// SIGPIPE in our host's process.
/// @param traffic Lives as long as the result.
/// @returns nothing if there is no memory.
BIO* new_socket_bio(socket_traffic* traffic);

} // namespace troupe
