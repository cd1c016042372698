#pragma once

#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace troupe {

struct streams_host_options {
  /// The resource manager's host.
  host_actor host;

  io_desk_actor desk;

  /// The local time of a moment, see `tool_output_options`.
  std::function<std::string(int64_t)> show_time = {};
};

/// A HOST before another that knows nothing of standard streams: what processes
/// and tools of this node pull and push is served by the desk, everything else
/// goes to the other host as it is. A user pulls from, and pushes to, the jobs
/// of that user; root all.
///
/// Gets `server_actor, event_cache_actor` before all else, and each
/// `register_nspace`, `register_client` and `deregister_nspace` beside the
/// server; `io_mesh_actor` if there is one that reaches other nodes: it takes
/// `io_input` as well. Takes `io_input` for processes of any node itself.
/// Source: PMIx Standard v5, `PMIx_IOF_pull`, `PMIx_IOF_push`.
host_actor spawn_streams_host(caf::actor_system& sys,
                              streams_host_options options);

} // namespace troupe
