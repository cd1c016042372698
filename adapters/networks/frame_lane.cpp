#include "adapters/networks/frame_lane.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/sockets/socket_kind.hpp"
#include "adapters/sockets/tls_transport.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace troupe {

namespace {

/// What is gathered before it is sent: a record of TLS.
constexpr size_t gathered_max = tls_transport::record_size;

/// What the kernel may have that has not left: enough to go on while we do
/// something else.
constexpr int unsent_max = 2 * gathered_max;

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
  : loop_(loop), handlers_(std::move(handlers)),
    check_(channel.is_secure ? frame_check::bare : frame_check::sum),
    reader_(defaults::lane_frame, check_),
    flush_(loop.base(), -1, 0, [this] { flush(); }),
    queued_max_(limits.queued_max),
    next_patient_(loop.base(), -1, 0, [this] { continue_patient(); }),
    peer_(std::move(channel.peer)),
    socket_(loop, std::move(channel.way),
            {limits.turn_bytes, limits.queued_max},
            {{},
             [this](const caf::error& why) {
               end(why ? reason_of(why) : "closed by the peer");
             },
             [this] { schedule_patient(); },
             [this] { read_turn(); }}) {
  // What is urgent does not overtake what the kernel has.
  socket_kind_of(socket_.fd()).bound_unsent(socket_.fd(), unsent_max);
}

void frame_lane::resume() {
  // What TLS has decrypted already does not make the socket readable.
  socket_.resume(true);
}

void frame_lane::pause() {
  socket_.pause();
}

void frame_lane::read_turn() {
  std::array<char, tls_transport::record_size> chunk;
  socket_.begin_turn();
  while (socket_.is_reading()) {
    // The rest of a long payload comes to where it stays.
    const auto room = reader_.payload_room();
    const auto is_long = room.size >= chunk.size() / 4;
    const auto got = is_long ? socket_.take(room.data, room.size)
                             : socket_.take(chunk.data(), chunk.size());
    if (got == 0)
      break;
    if (is_long)
      reader_.filled(got);
    else
      reader_.push({chunk.data(), got});
    take_frames();
    if (is_over_ || socket_.is_drained())
      break;
  }
  socket_.end_turn();
}

void frame_lane::take_frames() {
  while (!is_over_) {
    auto frame = reader_.next();
    if (!frame) {
      socket_.close();
      end(reason_of(frame.error()));
      return;
    }
    if (!*frame)
      return;
    note_urgent(**frame);
    handlers_.on_frame(std::move(**frame));
  }
}

void frame_lane::put(const lane_frame& frame) {
  if (is_over_)
    return;
  if (!may_be_overtaken(frame)) {
    // It says whose the frames behind it are: none overtakes it, and it none.
    if (std::holds_alternative<hello_frame>(frame) && !patient_.empty())
      send_patient(SIZE_MAX);
    note_urgent(frame);
    gather(frame);
    return;
  }
  patient_bytes_ += memory_of(frame);
  patient_.push_back(frame);
  // The socket ends what is too much.
  if (patient_bytes_ + socket_.queued() > queued_max_)
    send_patient(SIZE_MAX);
  else
    schedule_patient();
}

void frame_lane::note_urgent(const lane_frame& frame) {
  const auto* data = std::get_if<data_frame>(&frame);
  if (data == nullptr || may_be_overtaken(frame))
    return;
  const auto now = clock::now();
  pace_.on_urgent(now);
  // Processes of this node wait for it, most often.
  if (data->of == traffic_class::collectives)
    loop_.pace().on_urgent(now);
}

void frame_lane::gather(const lane_frame& frame) {
  // A large payload is sent from where it is, behind a record that is full.
  const auto part = encode_frame(frame, out_, gathered_max, check_);
  if (out_.size() < gathered_max) {
    if (!flush_.is_pending())
      flush_.fire_now();
    return;
  }
  flush();
  if (const auto rest = rest_of_payload(frame, part); !rest.empty())
    hand_over(rest);
}

void frame_lane::hand_over(std::string_view bytes) {
  handed_over_ += bytes.size();
  socket_.send(bytes);
}

bool frame_lane::has_bulk_queued() const noexcept {
  return handed_over_ - std::min<uint64_t>(handed_over_, socket_.queued())
         < bulk_until_;
}

void frame_lane::schedule_patient() {
  // Even without a wait the sockets have their turn first. What is urgent may
  // never leave the socket without a queue: a little of each has its turn.
  if (!patient_.empty() && !next_patient_.is_pending() && !has_bulk_queued())
    next_patient_.fire_after(pace_.wait(clock::now()));
}

void frame_lane::continue_patient() {
  // Something urgent may have come meanwhile.
  if (pace_.wait(clock::now()) > clock::duration::zero())
    schedule_patient();
  else
    send_patient(gathered_max);
}

void frame_lane::send_patient(size_t most) {
  size_t sent = 0;
  while (!patient_.empty() && sent < most) {
    const auto frame = std::move(patient_.front());
    patient_.pop_front();
    const auto size = memory_of(frame);
    patient_bytes_ -= size;
    sent += size;
    gather(frame);
  }
  flush();
  bulk_until_ = handed_over_;
  pace_.on_sent(clock::now(), sent);
  schedule_patient();
}

void frame_lane::flush() {
  if (out_.empty())
    return;
  hand_over(out_);
  if (out_.capacity() > kept_capacity)
    out_ = {};
  else
    out_.clear();
}

void frame_lane::close(std::chrono::milliseconds patience) {
  if (std::exchange(is_over_, true))
    return;
  send_patient(SIZE_MAX);
  socket_.close_when_sent(patience);
}

void frame_lane::cut() {
  is_over_ = true;
  patient_.clear();
  socket_.close();
}

void frame_lane::end(const std::string& reason) {
  if (std::exchange(is_over_, true))
    return;
  patient_.clear();
  handlers_.on_end(reason);
}

} // namespace troupe
