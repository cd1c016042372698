#pragma once

#include "actors/io/defaults.hpp"
#include "base/journal.hpp"
#include "config/defaults.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <functional>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// Streams of jobs that nobody has announced: a host may do without, but
/// whoever names jobs at will is stopped.
inline constexpr size_t io_unannounced_streams = 1024;

/// How long the desk waits before it tells the mesh again what it wants, when
/// that has failed: at first, and at most.
inline constexpr auto io_interest_retry = 1s;
inline constexpr auto io_interest_retry_most = 30s;

} // namespace defaults

struct io_desk_options {
  /// Which node this is in its DVM.
  uint32_t node = 0;

  /// Bytes of all streams that wait for their readers, and that are kept for
  /// those to come (L14).
  size_t waiting = defaults::io_window_total;
  size_t kept = defaults::io_tails_total;

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
