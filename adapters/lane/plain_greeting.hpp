#pragma once

#include "adapters/lane/node_identity.hpp"
#include "adapters/lane/socket_bio.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace troupe {

/// Whether both ends of a connection are on this node.
bool is_on_loopback(int fd);

/// What the ends of a connection without security tell each other first: who
/// they say they are. A line from each, whoever has dialled begins.
class plain_greeting {
public:
  /// @param traffic Of a connected socket; lives as long as this.
  explicit plain_greeting(socket_traffic& traffic) : traffic_(traffic) {
    // nop
  }

  caf::error send(const node_identity& self);

  /// Takes what has come, and not a byte more than the line.
  /// @returns who the other end says it is; nothing if more has to come.
  caf::expected<std::optional<node_identity>> receive();

private:
  socket_traffic& traffic_;
  std::string line_;
};

/// Reads and writes without TLS; says what is in the way as OpenSSL
/// does.
/// @param code Is set to one of `SSL_ERROR_`.
/// @returns how many bytes were moved; 0 or less if none were.
int read_plain(socket_traffic& traffic, char* out, size_t size, int& code);
int write_plain(socket_traffic& traffic, const char* bytes, size_t size,
                int& code);

} // namespace troupe
