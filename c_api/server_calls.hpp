#pragma once

#include "adapters/link/link.hpp"
#include "c_api/library.hpp"
#include "messages/event.hpp"

#include <pmix_server.h>

// What clients and tools ask of the server in their process. It may be in a
// library of its own, which these functions load: see c_api/halves/halves.hpp.

namespace troupe::c_api {

class library;

/// Makes a server of a tool, under a name of its own: its requests go to the
/// server that it is connected to, if there is one, and to itself if not.
/// @param module Function table of the host, as of release 4.
pmix_status_t become_server(library& lib, const pmix_server_module_t* module);

/// Takes that back.
void cease_server(library& lib);

/// Takes an event that the server's host raises to the processes for whom it
/// is, and to our own handlers. It does not go back to the host.
/// @returns false if there is no server.
/// Source: PMIx Standard v5, `PMIx_Notify_event`, for servers.
bool raise_from_host(event what);

/// Asks the session that the server of this process gave us. A client has none: it
/// has no code for messages to actors.
/// @param done Called on the progress thread exactly once, also if the server
///             stops or the library is finalized.
/// @returns PMIX_SUCCESS; otherwise `done` is not called: PMIX_ERR_INIT, or
///          PMIX_ERR_UNREACH if there is no server.
pmix_status_t ask_session(wire::request what, link::on_outcome done);

} // namespace troupe::c_api
