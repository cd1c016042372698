#pragma once

#include "adapters/link/link_socket.hpp"
#include "adapters/local/directory.hpp"

#include <caf/expected.hpp>

#include <string>

// How our tools find a DVM: by the name it was given, its server's URI, a file
// with that, or a process number; without any of it, the user's only one.

namespace troupe {

/// Lets the tools of this user find a DVM by its name: another name for a
/// rendezvous file of its server, in the session's private directory.
/// @returns `exists` in a sentence if the user has a DVM of that name already.
caf::error announce_dvm(const std::string& name,
                        const std::string& session_directory,
                        const std::string& system_directory,
                        const std::string& server_nspace);

/// Finds a DVM.
/// @param what A name, `pid:N`, `file:PATH`, a URI, or empty for the only DVM
///             that this user has on this node.
/// @returns `unreach` in a sentence that tells what there is.
caf::expected<link_settings> find_dvm(const std::string& what);

} // namespace troupe
