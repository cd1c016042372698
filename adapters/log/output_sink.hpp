#pragma once

#include "actors/io/output_buffers.hpp"
#include "actors/io/output_formatter.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <array>
#include <memory>

namespace troupe {

class fd_writer;

struct output_sink_settings {
  output_format format;

  /// Where standard output and standard error of the processes go.
  std::shared_ptr<fd_writer> out;
  std::shared_ptr<fd_writer> err;

  /// The hosts of processes, for `output_format::tag_detailed`.
  output_formatter::hosts host_of = {};

  /// Whether several processes are to be expected: see `whole_lines`.
  bool is_shared = true;
};

/// The state of an OUTPUT SINK actor.
struct output_sink_state {
  static inline const char* name = "output-sink";

  output_sink_settings settings;
  output_formatter formatter;

  /// Without a format; by whether it is for standard error.
  std::array<whole_lines, 2> lines;
  bool line_timer_is_running = false;

  /// By whether it is for standard error.
  output_buffers<bool> kept;
  bool timer_is_running = false;
};

/// Writes what processes write to the launcher's own streams. Bytes are
/// answered when they have been written, or kept as the begin of a line (at
/// most `output_formatter::max_line` or `whole_lines::max_line` of a stream),
/// or because the format says so; so a slow terminal holds up the processes,
/// not our memory. Lines of several processes stay whole, with and without a
/// format. What a sink of plain bytes will never get is told on standard error.
buffered_sink_actor::behavior_type
output_sink(buffered_sink_actor::stateful_pointer<output_sink_state> self,
            output_sink_settings settings);

} // namespace troupe
