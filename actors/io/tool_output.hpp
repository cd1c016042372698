#pragma once

#include "messages/actors.hpp"
#include "messages/io_wiring.hpp"

#include <caf/fwd.hpp>

#include <functional>
#include <string>

namespace troupe {

struct tool_output_options {
  server_actor server;

  /// A process or tool that is connected to this node.
  requester who;

  /// The number by which it knows its handler; 0: it has none.
  uint64_t handler = 0;

  /// How what it gets is formatted.
  output_format format;

  /// The local time of a moment in nanoseconds since 1970, as text.
  std::function<std::string(int64_t)> show_time;
};

/// Makes the sink of a tool or process. Answers a fragment when the connection
/// has taken it; ends itself when it is lost.
/// Source: PMIx Standard v5, `PMIx_IOF_pull`.
output_sink_actor spawn_tool_output(caf::actor_system& sys,
                                    tool_output_options options);

} // namespace troupe
