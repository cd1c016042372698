#pragma once

#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <pmix_common.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace troupe::c_api {

/// Makes the sink of a process or tool of a server, or of the server's own
/// program, which has index 0: see `c_host_settings::make_sink`.
output_sink_actor make_output_sink(caf::actor_system& sys,
                                   const server_actor& server,
                                   const requester& who, uint64_t handler,
                                   const std::vector<info>& directives);

/// Counts what a host has delivered and nobody has taken: it may go on without
/// waiting for answers, but not for ever. For any thread.
/// Source: guarantees 5.7; LIM14.
class delivered_bytes {
public:
  /// @returns what gives the room back when its last copy goes; null if too
  ///          much waits.
  std::shared_ptr<void> add(size_t size);

private:
  std::shared_ptr<std::atomic<size_t>> waiting_ =
    std::make_shared<std::atomic<size_t>>(0);
};

/// What a host delivers as messages for the desk: bytes, and the end of the
/// stream if there are none, or PMIX_IOF_COMPLETE says so.
/// Source: PMIx Standard v5, `PMIx_server_IOF_deliver`.
std::vector<process_output> outputs_of(const proc_id& source,
                                       io_channels channel, std::string bytes,
                                       const std::vector<info>& infos);

} // namespace troupe::c_api
