#pragma once

#include "adapters/lane/secure_handshake.hpp"
#include "adapters/loop/bulk_pace.hpp"
#include "adapters/loop/loop_event.hpp"
#include "adapters/networks/frame_codec.hpp"
#include "adapters/sockets/stream_socket.hpp"

#include <deque>
#include <functional>
#include <string>

namespace troupe {

/// A lane: frames in and out of one connection. Frames that are put in one pass
/// of the loop leave together, but for bulk (`may_be_overtaken`): of it little
/// goes with each pass, when the kernel has taken the bulk that went before and
/// `bulk_pace` says so. All others overtake it. For the thread of the loop only.
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
  using clock = std::chrono::steady_clock;

  void read_turn();
  void take_frames();
  void note_urgent(const lane_frame& frame);
  void gather(const lane_frame& frame);
  void flush();
  void hand_over(std::string_view bytes);

  /// Whether the socket still has bulk that the kernel has not taken.
  bool has_bulk_queued() const noexcept;

  /// Has bulk sent as soon as it may be.
  void schedule_patient();

  void continue_patient();
  void send_patient(size_t most);

  void end(const std::string& reason);

  event_loop& loop_;
  callbacks handlers_;
  frame_check check_;
  frame_reader reader_;
  bool is_over_ = false;

  /// Frames of this pass of the loop.
  std::string out_;
  loop_event flush_;

  /// Bulk that has not been sent, in order, and the memory that it takes.
  std::deque<lane_frame> patient_;
  size_t patient_bytes_ = 0;
  size_t queued_max_;

  /// Bytes that the socket was given so far, and up to the last bulk.
  uint64_t handed_over_ = 0;
  uint64_t bulk_until_ = 0;
  bulk_pace pace_;
  loop_event next_patient_;
  node_identity peer_;
  stream_socket socket_;
};

} // namespace troupe
