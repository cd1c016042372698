#pragma once

#include "adapters/wire/dialect.hpp"
#include "messages/connection.hpp"
#include "messages/proc_id.hpp"

#include <caf/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// How a process finds its server: the text of a URI, of a rendezvous file, and
// of the environment of a launched client.
// Source: OpenPMIx wire protocol, rendezvous.

namespace troupe::wire {

// -- URI ---------------------------------------------------------------------

/// `<nspace>.<rank>;tcp4://<address>:<port>` or the same with `tcp6`.
struct server_uri {
  proc_id server;

  /// Numeric, without brackets.
  std::string address;
  uint16_t port = 0;
  bool is_ipv6 = false;

  /// Names of the variables that stood in front of the URI, if any: what the
  /// server speaks.
  std::vector<std::string> variables;
};

std::string to_string(const server_uri& x);

/// Reads a URI, with or without variable names in front. The namespace ends at
/// the last dot before the semicolon.
caf::expected<server_uri> parse_uri(std::string_view text);

/// The module that a URI variable stands for, such as `v41` for
/// `PMIX_SERVER_URI41`; nothing for other names.
std::optional<packing_module> module_of_variable(std::string_view name);

// -- rendezvous file ---------------------------------------------------------

/// The text of a rendezvous file. Readers need the first line only.
struct rendezvous {
  server_uri uri;
  std::string version;
  std::optional<uint32_t> pid;
  std::optional<credentials> owner;

  /// When the server started, as `ctime` writes it, without the line feed.
  std::string started;
};

std::string to_string(const rendezvous& x);

/// Reads the text of a rendezvous file; at most 64 KiB.
caf::expected<rendezvous> parse_rendezvous(std::string_view text);

// -- environment -------------------------------------------------------------

/// What a launched client has to know.
struct client_setup {
  server_uri uri;
  proc_id proc;

  /// `native` or `munge`, or several separated by commas.
  std::string security_mode = "native";

  /// The node's name, as in the job info.
  std::string hostname;

  /// The directory of the session and that of the system; empty: not said.
  std::string server_tmpdir;
  std::string system_tmpdir;

  /// Whether clients are to use fully described buffers.
  bool described = false;

  /// The release that we behave like.
  std::string version = "4.2.2";
};

using environment = std::vector<std::pair<std::string, std::string>>;

/// The variables to set for a client; the key-value store `hash` among them, so
/// that no shared memory is used.
environment client_environment(const client_setup& x);

/// Variables that must not reach a client: they would override the others or
/// describe another server.
/// @returns whether `name` is one of them.
bool is_hostile_variable(std::string_view name);

} // namespace troupe::wire
