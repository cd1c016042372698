#include "adapters/process/output_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace troupe {

namespace {

/// A piece that is worth a message of its own, at any rate.
constexpr size_t large_piece = size_t{16} << 10;

/// Less than this after a time of gathering: the writer is not busy any more.
constexpr size_t small_piece = 256;

/// Small pieces in a row, each so soon after the last one, make a busy writer.
constexpr size_t quick_pieces = 4;
constexpr auto soon = std::chrono::microseconds{150};

} // namespace

output_pipe::output_pipe(event_loop& loop, unique_fd fd, output_credit& credit,
                         size_t window, receiver deliver)
  : loop_(loop), fd_(std::move(fd)), credit_(credit), window_(window),
    deliver_(std::move(deliver)), gathered_(loop, [this] {
      is_gathering_ = false;
      resume();
    }) {
  watch_.emplace(loop_, fd_.get(), [this] { read_once(); });
  watch_->enable_read();
}

output_pipe::~output_pipe() {
  close();
  credit_.left_ += bytes_;
}

bool output_pipe::may_read() {
  if (bytes_ >= window_ || fragments_ >= max_fragments)
    return false;
  if (credit_.left_ > 0)
    return true;
  if (!is_waiting_) {
    is_waiting_ = true;
    credit_.waiting_.push_back(this);
  }
  return false;
}

void output_pipe::stop_waiting() {
  if (is_waiting_)
    credit_.waiting_.remove(this);
  is_waiting_ = false;
}

output_pipe::outcome output_pipe::read_once() {
  if (!may_read()) {
    watch_->disable_read();
    return outcome::paused;
  }
  // One buffer for all: what a fragment holds is what it needs, however little
  // was read.
  static thread_local std::array<char, max_fragment> buffer;
  const auto most = std::min({buffer.size(), window_ - bytes_, credit_.left_});
  const auto n = read(fd_.get(), buffer.data(), most);
  if (n > 0) {
    const auto size = static_cast<size_t>(n);
    bytes_ += size;
    credit_.left_ -= size;
    ++fragments_;
    if (silence_)
      silence_->start(grace_);
    deliver_(std::string{buffer.data(), size});
    pace(size);
    return outcome::some;
  }
  const auto is_empty = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (n < 0 && errno == EINTR)
    return outcome::some;
  if (is_empty && !end_when_empty_)
    return outcome::nothing;
  end();
  return outcome::ended;
}

/// Decides when to read again.
void output_pipe::pace(size_t size) {
  const auto now = std::chrono::steady_clock::now();
  const auto gap = now - std::exchange(read_at_, now);
  if (size == max_fragment)
    enlarge();
  if (size >= large_piece || end_when_empty_)
    return;
  quick_ = gap < soon ? quick_ + 1 : 0;
  is_busy_ = is_busy_ ? size >= small_piece : quick_ >= quick_pieces;
  if (!is_busy_)
    return;
  enlarge();
  is_gathering_ = true;
  watch_->disable_read();
  gathered_.start(gathering_time);
}

void output_pipe::enlarge() {
  if (std::exchange(was_enlarged_, true) || credit_.enlargeable_ == 0)
    return;
  // Fails for a terminal, and for those at their bound: it is not needed.
  is_enlarged_ = fcntl(fd_.get(), F_SETPIPE_SZ, enlarged_pipe) >= 0;
  credit_.enlargeable_ -= is_enlarged_ ? 1 : 0;
}

void output_pipe::close() {
  stop_waiting();
  silence_.reset();
  watch_.reset();
  fd_.reset();
  credit_.enlargeable_ += std::exchange(is_enlarged_, false) ? 1 : 0;
}

void output_pipe::read_rest() {
  while (read_once() == outcome::some) {
    // Until the pipe is empty or the window is full.
  }
}

void output_pipe::end() {
  close();
  ++fragments_;
  deliver_({});
}

void output_pipe::resume() {
  if (!fd_ || !may_read())
    return;
  if (end_when_empty_)
    read_rest();
  else if (!is_gathering_)
    watch_->enable_read();
}

void output_pipe::taken(size_t bytes) {
  --fragments_;
  bytes_ -= bytes;
  credit_.left_ += bytes;
  resume();
  if (credit_.left_ == 0)
    return;
  // All may try again; who comes too late queues up once more.
  for (auto* x : std::exchange(credit_.waiting_, {})) {
    x->is_waiting_ = false;
    x->resume();
  }
}

void output_pipe::expect_end(std::chrono::milliseconds grace,
                             quiet_callback on_quiet) {
  if (!fd_ || silence_)
    return;
  grace_ = grace;
  on_quiet_ = std::move(on_quiet);
  silence_.emplace(loop_, [this] { on_silence(); });
  silence_->start(grace_);
}

void output_pipe::on_silence() {
  // Nothing came, or we did not look because the receiver is slow.
  if (read_once() == outcome::nothing) {
    is_quiet_ = true;
    const auto tell = on_quiet_;
    tell();
  } else if (silence_) {
    silence_->start(grace_);
  }
}

void output_pipe::end_when_empty() {
  end_when_empty_ = true;
  if (fd_)
    read_rest();
}

} // namespace troupe
