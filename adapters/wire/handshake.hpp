#pragma once

#include "adapters/wire/dialect.hpp"
#include "messages/connection.hpp"
#include "messages/status.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// How a connection begins: the client sends one greeting (HELLO), the server
// answers with a few raw bytes or closes. There is no answer that refuses:
// clients of 4.1 and 4.2 wait for ever after a status other than 0.
// Source: OpenPMIx wire protocol, connect.

namespace troupe::wire {

/// The longest greeting. Source: OpenPMIx wire protocol, connect; guarantees,
/// limit on handshakes (L2).
inline constexpr size_t max_hello_size = 131072;

/// What a process says of itself when it connects. Nothing of it is proven.
struct hello {
  /// `native`, `munge` or `none`.
  std::string security;
  std::string credential;

  peer_role role = peer_role::client;

  /// The user and group it claims; clients do not say them here.
  std::optional<credentials> claimed;

  /// The identity it claims; none if it needs one.
  std::optional<proc_id> proc;

  /// Such as `4.2.2rc2`; `dialect_of` reads it.
  std::string version;

  packing_module module = packing_module::v41;
  bool described = false;

  /// Its data store, `hash` if it does without shared memory.
  std::string store;

  std::vector<info> infos;

  /// Whether it ends with one byte too many, as from 4.0 to 4.2.2.
  bool extra_byte = false;
};

/// How to talk to the process that sent `x`.
dialect dialect_of(const hello& x);

/// Reads the payload of a greeting. Refuses, with a sentence that says why:
/// a module that we do not speak, a flag over 10, a buffer type that is none, a
/// namespace that is empty, too long, or holds `/` or control characters.
caf::expected<hello> decode_hello(std::string_view payload);

/// Appends a whole greeting with its header.
caf::error encode_hello(const hello& x, std::string& out);

/// Collects a greeting as its bytes arrive.
class hello_reader {
public:
  /// Takes bytes of the stream.
  /// @returns the greeting once it is whole, nothing while bytes are missing,
  ///          or why the connection must be closed.
  caf::expected<std::optional<hello>> push(std::string_view bytes);

  /// Whether all of the 16 bytes of the header have arrived.
  bool has_header() const;

  /// Takes the bytes that followed the greeting: the first frames.
  std::string take_rest();

private:
  std::string buffer_;
  size_t end_ = 0;
};

// -- credentials -------------------------------------------------------------

/// The credential of module `native`: user and group in host byte order.
std::string native_credential(const credentials& x);

/// Reads the credential of module `native`; nothing unless it is 8 bytes.
std::optional<credentials> parse_native_credential(std::string_view bytes);

// -- the answer --------------------------------------------------------------

/// The forms of the server's answer.
enum class connect_reply_form : uint8_t {
  /// Status, index.
  client,

  /// Status, server, security status.
  tool,

  /// Status, assigned identity, server, security status.
  tool_with_identity,
};

/// Which form a peer waits for.
connect_reply_form connect_reply_form_of(peer_role role, const release& peer);

/// How many bytes an answer of this form has.
size_t connect_reply_size(connect_reply_form form);

/// The server's answer as the client reads it.
struct connect_reply {
  status outcome = status::success;

  /// Form `client` only.
  uint32_t index = 0;

  /// Form `tool_with_identity` only.
  std::optional<proc_id> assigned;

  /// Not in form `client`.
  std::optional<proc_id> server;

  /// Not in form `client`.
  status security = status::success;
};

/// Appends the answer that says yes.
void encode_connect_reply(const connect_accepted& x, connect_reply_form form,
                          std::string& out);

/// Appends any answer; what `x` lacks for `form` is written as zeros.
void encode_connect_reply(const connect_reply& x, connect_reply_form form,
                          std::string& out);

/// Reads an answer.
/// @param bytes exactly `connect_reply_size(form)` bytes, or 4 bytes of a
///              status that is not success.
caf::expected<connect_reply> decode_connect_reply(std::string_view bytes,
                                                  connect_reply_form form);

} // namespace troupe::wire
