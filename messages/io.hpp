#pragma once

#include "messages/enums.hpp"
#include "messages/inspect.hpp"
#include "messages/value.hpp"

namespace troupe {

/// Wants the output of processes. Source: PMIx Standard v5, `PMIx_IOF_pull`.
struct io_pull_request {
  std::vector<proc_id> procs;
  std::vector<info> directives;
  io_channels channels = io_channels::none;

  /// The number by which the requester knows its handler; 3.2 sends none.
  std::optional<uint64_t> handler;
};

TROUPE_MESSAGE(io_pull_request, x.procs, x.directives, x.channels, x.handler)

struct io_pull_result {
  uint64_t subscription = 0;
};

TROUPE_MESSAGE(io_pull_result, x.subscription)

/// Ends a subscription. Source: PMIx Standard v5, `PMIx_IOF_deregister`.
struct io_deregister_request {
  std::vector<info> directives;
  uint64_t subscription = 0;
};

TROUPE_MESSAGE(io_deregister_request, x.directives, x.subscription)

/// Sends input to processes. Source: PMIx Standard v5, `PMIx_IOF_push`.
struct io_push_request {
  std::vector<proc_id> targets;
  std::vector<info> directives;

  /// Absent at the end of the input.
  std::optional<std::string> bytes;
};

TROUPE_MESSAGE(io_push_request, x.targets, x.directives, x.bytes)

/// Output on its way to a subscriber; no bytes mark the end of the stream.
struct io_delivery {
  proc_id source;
  io_channels channel = io_channels::none;
  uint64_t handler = 0;
  std::vector<info> infos;
  std::string bytes;
};

TROUPE_MESSAGE(io_delivery, x.source, x.channel, x.handler, x.infos, x.bytes)

} // namespace troupe
