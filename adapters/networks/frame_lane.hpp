#pragma once

#include "adapters/lane/secure_handshake.hpp"
#include "adapters/loop/loop_event.hpp"
#include "adapters/networks/frame_codec.hpp"
#include "adapters/sockets/stream_socket.hpp"

#include <functional>
#include <string>

namespace troupe {

/// A lane: frames in and out of one connection. Frames that are put in one pass
/// of the loop leave together. For the thread of the loop only.
///
/// Callbacks may call all functions, but must not destroy the object.
class frame_lane {
public:
  struct callbacks {
    std::function<void(lane_frame&&)> on_frame;

    /// The lane is over, for this reason. Called once, and not after `close`.
    std::function<void(const std::string&)> on_end;
  };

  /// Reads nothing before `resume`.
  frame_lane(event_loop& loop, secure_channel channel,
             const lane_limits& limits, callbacks handlers);

  const node_identity& peer() const noexcept {
    return peer_;
  }

  bool is_open() const noexcept {
    return socket_.is_open();
  }

  void resume();

  void pause();

  void put(const lane_frame& frame);

  /// Closes: what was put is sent, within `patience`.
  void close(std::chrono::milliseconds patience);

  /// Closes at once.
  void cut();

private:
  void read(std::string_view bytes);
  void flush();
  void end(const std::string& reason);

  callbacks handlers_;
  frame_reader reader_;
  bool is_over_ = false;

  /// Frames of this pass of the loop.
  std::string out_;
  loop_event flush_;
  node_identity peer_;
  stream_socket socket_;
};

} // namespace troupe
