#pragma once

#include "adapters/link/link_socket.hpp"
#include "c_api/library.hpp"

namespace troupe::c_api {

/// Connects to a server and fetches what it knows of our job.
/// @param make_primary Whether it becomes the one that is asked.
pmix_status_t attach(library& lib, const link_settings& settings,
                     bool make_primary = true);

/// Makes a connected server the one that is asked; null: none is.
void choose(library& lib, const std::shared_ptr<link>& to);

/// Takes leave of a server, in bounded time. If it was the one that is asked,
/// the next one takes its place.
void detach(library& lib, const std::shared_ptr<link>& from);

/// Takes leave of all servers.
void detach_all(library& lib);

/// Says goodbye on one connection.
void take_leave(const std::shared_ptr<link>& to);

/// All connections, the one that is asked first.
std::vector<std::shared_ptr<link>> links(const library& lib);

} // namespace troupe::c_api
