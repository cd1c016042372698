#pragma once

#include "actors/io/shared_window.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <functional>
#include <memory>

namespace troupe {

struct io_channel_options {
  io_stream stream;

  /// Most bytes that are kept for sinks that come later.
  size_t tail = 0;
  io_policy overflow = io_policy::drop_oldest;

  /// Has what this node has not, of a stream of another node; none: it is ours.
  io_mesh_actor elsewhere = {};

  /// What is on its way to a sink, and to others, of all streams; none: as if
  /// there were no others.
  std::function<std::shared_ptr<shared_window>(uint64_t id)> window_of = {};

  /// Called when the bytes held have changed, with how many there are, and how
  /// many of them sinks that block have to get; with nothing at the end.
  std::function<void(size_t held, size_t needed)> on_held = {};

  /// Called when a sink was dropped because it ended or refused bytes, with the
  /// number of its subscription, and the first byte that it has not answered.
  std::function<void(uint64_t id, uint64_t offset)> on_dropped = {};

  /// Called when a sink gets a fragment before which it has missed bytes.
  std::function<void(uint64_t bytes)> on_missed = {};
};

/// Makes the I/O CHANNEL of a stream. Answers `process_output`, and fragments
/// from other nodes, when all sinks that block have taken them, so that whoever
/// reads the process waits with them; at once when there are none. The empty
/// `process_output` is the end. A sink that ends, or answers with an error, is
/// dropped, and nobody waits for it any more. Lives until it is told to end;
/// then what has not been answered is refused with `unreach`.
/// Source: guarantees 5.7.
io_channel_actor spawn_io_channel(caf::actor_system& sys,
                                  io_channel_options options);

} // namespace troupe
