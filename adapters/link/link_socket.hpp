#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "adapters/wire/dialect.hpp"
#include "adapters/wire/handshake.hpp"
#include "adapters/wire/uri.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// How to reach a server, and who we say we are.
struct link_settings {
  wire::server_uri uri;

  peer_role role = peer_role::client;

  /// Our identity; none if the server gives us one.
  std::optional<proc_id> self;

  wire::packing_module module = wire::packing_module::v41;
  bool described = false;

  /// The release that the server behaves like, if that is known.
  std::optional<release> server;

  /// What the server accepts, best first: `native`, `munge`. Empty: native.
  std::vector<std::string> security;

  /// Attributes that tools and singletons add.
  std::vector<info> infos;

  /// Users that may be our server, beside our own and root (X10).
  std::vector<uint32_t> trusted_users;

  /// Time for the connection, and for the server's answer. Servers that are
  /// busy with a thousand others take their time.
  std::chrono::milliseconds connect_time{5000};
  std::chrono::milliseconds answer_time{30000};

  /// Whether to try again, ten times, if the server closes instead of
  /// answering: one with a full table does so for a moment.
  bool retry_refusals = false;
};

/// Whether a server, or a file that names one, may belong to this user: root, our
/// own user (in a program that runs as another also whoever started it), or one of
/// those named. Source: guarantees, attack X10.
bool may_be_our_server(uint32_t uid, const std::vector<uint32_t>& trusted);

/// Makes a munge credential without contents, and the zero at its end. Munged is
/// asked over a socket of this node and answers at once.
/// @returns `unreach` if it is not there.
caf::error make_munge_credential(std::string& to);

/// A connection whose greeting has been answered.
struct server_connection {
  unique_fd fd;
  wire::dialect rules;
  proc_id server;
  proc_id self;

  /// Where the server was found.
  wire::server_uri uri;

  /// What the server distinguishes us by.
  int32_t index = 0;
};

/// The release that we announce, so that the server's layouts are those of its
/// time: 4.2.2 to servers before 4.2.4, else 4.2.9.
release announced_release(const std::optional<release>& server);

/// Connects to a server and greets it. Blocks, no longer than the settings say:
/// not for the thread of the loop.
/// @returns `unreach` if nobody listens or the server closes,
///          `no_permissions` if whoever listens may not be our server,
///          `timeout`, `not_supported` for security we do not have.
/// Source: OpenPMIx wire protocol, connect; guarantees, attack X10.
caf::expected<server_connection> connect_to_server(const link_settings& x);

} // namespace troupe
