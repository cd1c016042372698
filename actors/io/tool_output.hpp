#pragma once

#include "actors/io/output_formatter.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

namespace troupe {

struct tool_output_options {
  server_actor server;

  /// A process or tool that is connected to this node.
  requester who;

  /// The number by which it knows its handler; 0: it has none.
  uint64_t handler = 0;

  /// How what it gets is formatted.
  output_format format;

  /// The local time of a moment in nanoseconds since 1970, as RFC 3339 has it.
  std::function<std::string(int64_t)> show_time;

  /// Whether each delivery says where in the stream it stands
  /// (`io_offset_key`), for tools that format themselves: of `format` counts
  /// its buffering, and with `tag_detailed` each delivery has PMIX_HOSTNAME and
  /// PMIX_PROC_PID as far as they are known.
  bool with_offsets = false;

  /// The hosts of processes, for `output_format::tag_detailed`.
  output_formatter::hosts host_of = {};
};

/// Makes the sink of a tool or process. Answers a fragment when the connection
/// has taken it; ends itself when it is lost. What the tool will never get is
/// told with the next delivery (`io_missed_key`), and shown where it is
/// missing if the output is formatted. The end of a stream is a delivery
/// without bytes. A fragment of nothing, neither bytes nor an end, asks for
/// what is kept (`output_format::buffer_size`), and is answered when the
/// connection has taken that. Source: PMIx Standard v5, `PMIx_IOF_pull`.
output_sink_actor spawn_tool_output(caf::actor_system& sys,
                                    tool_output_options options);

} // namespace troupe
