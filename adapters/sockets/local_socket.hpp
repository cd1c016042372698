#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "adapters/sockets/tcp_socket.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <string>

namespace troupe {

// Sockets between daemons of one machine and one user. Their names are in the
// kernel's abstract namespace: there is no file to protect or to leave behind,
// a name goes with its process, and it is not there in other network
// namespaces.
//
// A name is `@troupe-lane.PLACE.OWN`. PLACE is made of the machine, the network
// namespace, the user and the namespace of users: sockets of another place
// cannot be reached. OWN is random. A socket that connects has the name of its node with `:NUMBER`, so
// that a lane shows between whom it is.
//
// Everybody on the machine can connect to such a name, and take one that is
// free. So both ends ask the kernel for the other one's user before they say
// anything, and shake hands as over any network.

/// Makes a name for this process to listen on.
/// @returns an error if the kernel does not say where we are.
caf::expected<std::string> make_local_name();

/// Whether `other` is a name, of the place that `own` is of.
bool is_in_place_of(const std::string& own, const std::string& other);

/// Opens a socket that listens on a name and does not block.
/// @returns an error that names it if that cannot be.
caf::expected<unique_fd> listen_on_name(const std::string& name, int backlog);

/// Connects, or fails at once: nothing has to be waited for.
/// @param from Name of this node.
/// @param to   Name of the other one.
caf::expected<unique_fd> connect_to_name(const std::string& from,
                                         const std::string& to);

/// @returns `no_permissions` if the other end was opened by another user.
caf::error check_user_of(int fd);

/// Both ends of a connection; no text if they have no name of ours.
tcp_address local_name(int fd);

tcp_address remote_name(int fd);

} // namespace troupe
