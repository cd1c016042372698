#pragma once

#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <functional>

namespace troupe {

struct io_desk_options {
  /// Which node this is in its DVM.
  uint32_t node = 0;

  /// Writes the input of processes; none: input is refused.
  input_writer_actor launcher = {};

  /// Makes the sink that writes the output of a job to files, on the node of
  /// its processes; none: jobs write no files.
  std::function<output_sink_actor(const io_job_begun&)> open_files = {};

  journal log = {};
};

/// Makes the I/O DESK of a node: finds the channel of each stream, or makes it
/// at the first byte; knows who wants what by pattern, and gives each channel
/// its sinks; asks other nodes for what somebody here wants, once per stream.
/// Source: guarantees 5.7; RFC notes on I/O forwarding.
io_desk_actor spawn_io_desk(caf::actor_system& sys, io_desk_options options);

} // namespace troupe
