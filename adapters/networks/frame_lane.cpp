#include "adapters/networks/frame_lane.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/sockets/tls_transport.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <utility>

namespace troupe {

namespace {

/// What is gathered before it is sent: a record of TLS.
constexpr size_t gathered_max = tls_transport::record_size;

/// What a lane keeps for the next pass.
constexpr size_t kept_capacity = 4 * gathered_max;

std::string_view rest_of_payload(const lane_frame& frame, size_t begin) {
  const auto* x = std::get_if<data_frame>(&frame);
  if (x == nullptr || !x->payload.data)
    return {};
  const auto payload = bytes_of(x->payload);
  return payload.substr(std::min(begin, payload.size()));
}

} // namespace

frame_lane::frame_lane(event_loop& loop, secure_channel channel,
                       const lane_limits& limits, callbacks handlers)
  : handlers_(std::move(handlers)),
    flush_(loop.base(), -1, 0, [this] { flush(); }),
    peer_(std::move(channel.peer)),
    socket_(loop, std::move(channel.way),
            {limits.turn_bytes, limits.queued_max},
            {[this](std::string_view bytes) { read(bytes); },
             [this](const caf::error& why) {
               end(why ? reason_of(why) : "closed by the peer");
             },
             {},
             {}}) {
  // nop
}

void frame_lane::resume() {
  // What TLS has decrypted already does not make the socket readable.
  socket_.resume(true);
}

void frame_lane::pause() {
  socket_.pause();
}

void frame_lane::read(std::string_view bytes) {
  reader_.push(bytes);
  while (!is_over_) {
    auto frame = reader_.next();
    if (!frame) {
      socket_.close();
      end(reason_of(frame.error()));
      return;
    }
    if (!*frame)
      return;
    handlers_.on_frame(std::move(**frame));
  }
}

void frame_lane::put(const lane_frame& frame) {
  if (is_over_)
    return;
  // A large payload is sent from where it is.
  encode_frame(frame, out_, gathered_max);
  if (out_.size() < gathered_max) {
    if (!flush_.is_pending())
      flush_.fire_now();
    return;
  }
  flush();
  if (const auto rest = rest_of_payload(frame, gathered_max); !rest.empty())
    socket_.send(rest);
}

void frame_lane::flush() {
  if (out_.empty())
    return;
  socket_.send(out_);
  if (out_.capacity() > kept_capacity)
    out_ = {};
  else
    out_.clear();
}

void frame_lane::close(std::chrono::milliseconds patience) {
  if (std::exchange(is_over_, true))
    return;
  flush();
  socket_.close_when_sent(patience);
}

void frame_lane::cut() {
  is_over_ = true;
  socket_.close();
}

void frame_lane::end(const std::string& reason) {
  if (std::exchange(is_over_, true))
    return;
  handlers_.on_end(reason);
}

} // namespace troupe
