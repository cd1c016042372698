#pragma once

#include "messages/inspect.hpp"
#include "messages/value.hpp"

namespace troupe {

/// In which role a process connects, with the numbers of the wire.
/// Source: OpenPMIx wire protocol, connect.
enum class peer_role : uint8_t {
  client = 0,
  legacy_tool = 1,
  legacy_launcher = 2,
  tool_needs_identity = 3,
  tool_with_identity = 4,
  tool_client = 5,
  launcher_needs_identity = 6,
  launcher_with_identity = 7,
  launcher_client = 8,
  singleton = 9,
  scheduler = 10,
};

/// Whether the server must give the peer its identity.
inline bool needs_identity(peer_role x) {
  return x == peer_role::tool_needs_identity
         || x == peer_role::launcher_needs_identity
         || x == peer_role::legacy_tool || x == peer_role::legacy_launcher;
}

/// Whether the peer is a tool or launcher.
inline bool is_tool(peer_role x) {
  return x != peer_role::client && x != peer_role::singleton;
}

/// A release of libpmix: `4.2.2`.
struct release {
  uint16_t major = 0;
  uint16_t minor = 0;
  uint16_t patch = 0;
};

TROUPE_MESSAGE(release, x.major, x.minor, x.patch)

inline bool operator<(const release& x, const release& y) {
  return std::tie(x.major, x.minor, x.patch)
         < std::tie(y.major, y.minor, y.patch);
}

/// User and group as the kernel or munge states them.
struct credentials {
  uint32_t uid = 0;
  uint32_t gid = 0;
};

TROUPE_MESSAGE(credentials, x.uid, x.gid)

/// A process asks to be served: what it says of itself, and who it really is.
/// Source: PMIx Standard v5, "Security"; guarantees, attacks X3 to X5 and X12.
struct connect_request {
  peer_role role = peer_role::client;

  /// The identity that the peer claims; none if it needs one.
  std::optional<proc_id> claimed_proc;

  /// User and group that the peer claims, if it does.
  std::optional<credentials> claimed;

  /// Who the other end of the socket is, from the kernel or from munge; never
  /// from what the peer wrote.
  credentials actual;

  /// The peer's libpmix.
  release version;

  /// Attributes that tools and newer clients add.
  std::vector<info> infos;

  /// Whether the launcher of this node had no process of that name when it was
  /// asked for the one that holds the peer's socket: who is started as it since
  /// is another. Source: guarantees, attack X12.
  bool is_not_started = false;

  /// Whether it is a library of ours that can share memory with the server.
  bool can_share = false;
};

TROUPE_MESSAGE(connect_request, x.role, x.claimed_proc, x.claimed, x.actual,
               x.version, x.infos, x.is_not_started, x.can_share)

/// The server agrees to serve.
struct connect_accepted {
  /// Who the peer is from now on.
  proc_id proc;

  /// Who the server is.
  proc_id server;

  /// Distinguishes the connections of this server.
  uint32_t index = 0;

  /// Where the peer finds what it shares with the server and its job on this
  /// node, as whoever keeps that writes it; empty: nothing.
  std::string shared{};
};

TROUPE_MESSAGE(connect_accepted, x.proc, x.server, x.index, x.shared)

/// Asks for the session of a connected process; of several, the first. Fails with
/// `not_found`.
struct find_session {
  proc_id proc;
};

TROUPE_MESSAGE(find_session, x.proc)

/// Who makes a request: filled in by the server side, never by the peer.
struct requester {
  proc_id proc;
  credentials creds;
  peer_role role = peer_role::client;
  release version;

  /// The connection the request came from, unique in this server; 0 for the
  /// server's own requests.
  uint32_t index = 0;
};

TROUPE_MESSAGE(requester, x.proc, x.creds, x.role, x.version, x.index)

/// A peer's connection ended.
struct connection_lost {
  /// Whether the peer finalized first: an orderly end.
  bool finalized = false;
};

TROUPE_MESSAGE(connection_lost, x.finalized)

/// The answer of an operation that succeeded and has nothing to say.
struct ack {};

TROUPE_EMPTY_MESSAGE(ack)

/// Asks a peer's session to close its connection.
struct close_connection {
  std::string reason;
};

TROUPE_MESSAGE(close_connection, x.reason)

/// A process leaves. Source: PMIx Standard v5, `PMIx_Finalize`.
struct finalize_request {};

TROUPE_EMPTY_MESSAGE(finalize_request)

/// A process shows that it lives. Source: Standard v5, `PMIx_Heartbeat`.
struct heartbeat {};

TROUPE_EMPTY_MESSAGE(heartbeat)

} // namespace troupe
