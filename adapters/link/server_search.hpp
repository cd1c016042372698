#pragma once

#include "adapters/link/link_socket.hpp"
#include "adapters/local/rendezvous.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// How a process finds its server: a launched client in its environment, a tool
// in what it is told or by rendezvous files.
// Source: OpenPMIx wire protocol, rendezvous.

namespace troupe {

/// Looks a variable of the environment up; null if it is not set.
using variable_lookup = std::function<const char*(const char*)>;

/// Whether the environment is that of a launched client.
bool is_launched(const variable_lookup& environment);

/// What a launched client finds in its environment.
/// @returns `data_value_not_found` if the namespace is there but no rank,
///          `bad_param` for a rank or a namespace that is none, `unreach` if
///          there is no server that we can talk to.
caf::expected<link_settings>
client_settings(const variable_lookup& environment);

/// Users that the environment names as owners of servers, beside our own and
/// root: `TROUPE_SERVER_USERS`, numbers separated by commas (X10).
std::vector<uint32_t> trusted_users(const variable_lookup& environment);

/// What a singleton connects to: the node's system server, if there is one.
/// @returns `unreach` if there is none.
caf::expected<link_settings>
singleton_settings(const variable_lookup& environment);

/// Which server a tool looks for. Source: PMIx Standard v5, `PMIx_tool_init`.
struct server_search {
  /// A URI, or `file:` and a path.
  std::optional<std::string> uri;
  std::optional<std::string> attachment_file;

  /// Kinds of servers of the node, in the order to try them.
  std::vector<rendezvous_kind> node_servers;

  /// Whether those are all that is wanted.
  bool node_servers_only = false;

  std::optional<uint32_t> pid;
  std::optional<std::string> nspace;

  /// Whether the environment of a launched client counts.
  bool use_environment = true;

  /// Where rendezvous files are; empty: the system's directory.
  std::string directory;

  /// How long to wait for a file that is told, and how often to look.
  std::chrono::milliseconds retry_delay{10};
  uint32_t retries = 1;
};

/// The servers that a tool may connect to, best first. Files of servers that
/// are no more, and of other users, are left out.
/// @returns `unreach` if there is none, or if the files name several servers of
///          equal right.
caf::expected<std::vector<link_settings>>
find_servers(const server_search& what, const variable_lookup& environment);

/// Reads a rendezvous file.
/// @returns `not_found` if there is none, `no_permissions` if it belongs to
///          somebody whom we do not trust, `unreach` if its server is no more.
caf::expected<link_settings>
read_rendezvous_file(const std::string& path,
                     const std::vector<uint32_t>& trusted);

} // namespace troupe
