#include "adapters/process/output_pipe.hpp"

#include "adapters/loop/event_loop.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace troupe {

// -- pace --------------------------------------------------------------------

namespace {

/// A piece that is worth a message of its own, at any rate.
constexpr size_t large_piece = size_t{16} << 10;

/// Less than this after a time of gathering: the writer is not busy any more.
constexpr size_t small_piece = 256;

/// Less than this does not become much in a longer time either.
constexpr size_t least_gathered = size_t{4} << 10;

/// What gathers for one reading, if nothing gets faster.
constexpr size_t one_reading = size_t{60} << 10;

/// Small pieces in a row, each so soon after the last one, make a busy writer.
constexpr size_t quick_pieces = 4;
constexpr auto soon = std::chrono::microseconds{150};

/// Sooner than this: reading on at once is as good.
constexpr auto at_once = std::chrono::microseconds{100};

} // namespace

/// The pipe is read when there is about as much as one reading takes. If that
/// is soon, when it is half full: a writer that gets faster, or a timer that is
/// late, does not fill it.
output_pace::duration output_pace::gathering_time(duration took) const {
  if (gathered_ < least_gathered)
    return least_time;
  const auto time_of = [&](size_t bytes) {
    const auto share =
      static_cast<double>(bytes) / static_cast<double>(gathered_);
    return std::chrono::duration_cast<duration>(
      std::chrono::duration<double, std::nano>{took} * share);
  };
  const auto half = capacity_ / 2;
  auto result = time_of(std::min(one_reading, half));
  if (result < least_time)
    result = time_of(half);
  if (result < at_once)
    return duration::zero();
  return std::min<duration>(result, most_time);
}

output_pace::duration output_pace::on_read(time now, size_t bytes,
                                           bool is_all) {
  const auto gap = now - std::exchange(read_at_, now);
  if (capacity_ < least_capacity)
    return duration::zero();
  gathered_ += bytes;
  if (is_all || (!is_busy_ && bytes >= large_piece))
    return duration::zero();
  const auto took = now - std::exchange(begin_, now);
  auto result = duration::zero();
  if (is_busy_ && gathered_ >= small_piece) {
    result = gathering_time(took);
  } else {
    quick_ = !is_busy_ && gap < soon ? quick_ + 1 : 0;
    is_busy_ = quick_ >= quick_pieces;
    if (is_busy_)
      result = least_time;
  }
  gathered_ = 0;
  return result;
}

// -- pipe --------------------------------------------------------------------

namespace {

/// What `fd` holds if it is a pipe; a terminal is none.
size_t pipe_capacity(int fd) {
  return static_cast<size_t>(std::max(fcntl(fd, F_GETPIPE_SZ), 0));
}

read_turns& turns_of(std::optional<read_turns>& turns, event_loop& loop) {
  return turns ? *turns : turns.emplace(loop);
}

} // namespace

output_pipe::output_pipe(event_loop& loop, unique_fd fd, output_credit& credit,
                         size_t window, receiver deliver)
  : loop_(loop), fd_(std::move(fd)), credit_(credit), window_(window),
    deliver_(std::move(deliver)), bytes_(credit.window),
    turn_(turns_of(credit.turns, loop),
          [this](size_t most) { return read_in_turn(most); }),
    pace_(pipe_capacity(fd_.get())), gathered_(loop, [this] {
      is_gathering_ = false;
      if (fd_)
        turn_.join();
    }) {
  watch_.emplace(loop_, fd_.get(), [this] { on_readable(); });
  watch_->enable_read();
}

output_pipe::~output_pipe() {
  close();
}

/// @returns how much may be read now; nothing only while an answer is due.
size_t output_pipe::room() const noexcept {
  return fragments_ < max_fragments ? bytes_.room(window_) : 0;
}

output_pipe::outcome output_pipe::read_once(size_t limit) {
  const auto most = std::min({max_fragment, limit, room()});
  if (most == 0) {
    watch_->disable_read();
    return outcome::paused;
  }
  // One buffer for all: what a fragment holds is what it needs, however little
  // was read. As a part of what a thread has by itself it would be cleared for
  // each.
  static thread_local const auto buffer =
    std::unique_ptr<char[]>{new char[max_fragment]};
  const auto n = read(fd_.get(), buffer.get(), most);
  if (n > 0) {
    const auto size = static_cast<size_t>(n);
    bytes_.take(size);
    ++fragments_;
    if (silence_)
      silence_->start(grace_);
    deliver_(std::string{buffer.get(), size});
    pace(size, size == most);
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

/// What has to wait for more than this pass is watched again after its turn: the
/// loop would not sleep till then.
void output_pipe::on_readable() {
  if (turn_.is_waiting())
    watch_->disable_read();
  else
    turn_.join();
}

/// @returns how many bytes came.
size_t output_pipe::read_in_turn(size_t most) {
  if (is_gathering_)
    return 0;
  const auto before = bytes_.out();
  const auto what = read_once(most);
  if (what == outcome::paused || what == outcome::ended)
    return 0;
  if (!is_gathering_)
    watch_->enable_read();
  return bytes_.out() - before;
}

/// Decides when to read again.
/// @param is_all Whether as much was read as there was room for.
void output_pipe::pace(size_t size, bool is_all) {
  const auto wait =
    pace_.on_read(std::chrono::steady_clock::now(), size, is_all);
  if (size == max_fragment || pace_.is_busy())
    enlarge();
  if (wait == output_pace::duration::zero() || end_when_empty_)
    return;
  is_gathering_ = true;
  watch_->disable_read();
  gathered_.start(wait);
}

void output_pipe::enlarge() {
  if (std::exchange(was_enlarged_, true) || credit_.enlargeable == 0)
    return;
  // Fails for a terminal, and for those at their bound: it is not needed.
  is_enlarged_ = fcntl(fd_.get(), F_SETPIPE_SZ, enlarged_pipe) >= 0;
  if (!is_enlarged_)
    return;
  --credit_.enlargeable;
  pace_.set_capacity(enlarged_pipe);
}

void output_pipe::close() {
  turn_.leave();
  silence_.reset();
  watch_.reset();
  fd_.reset();
  credit_.enlargeable += std::exchange(is_enlarged_, false) ? 1 : 0;
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
  if (!fd_ || room() == 0)
    return;
  if (end_when_empty_)
    read_rest();
  else if (!is_gathering_)
    watch_->enable_read();
}

void output_pipe::taken(size_t bytes) {
  --fragments_;
  bytes_.give_back(bytes);
  resume();
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

// -- read turns --------------------------------------------------------------

read_turns::reader::reader(read_turns& turns, callback read)
  : turns_(turns), read_(std::move(read)) {
  // nop
}

read_turns::reader::~reader() {
  leave();
}

void read_turns::reader::join() {
  if (std::exchange(is_waiting_, true))
    return;
  turns_.waiting_.push_back(this);
  if (!std::exchange(turns_.is_due_, true))
    turns_.next_.fire_now();
}

void read_turns::reader::leave() noexcept {
  if (std::exchange(is_waiting_, false))
    turns_.waiting_.remove(this);
}

read_turns::read_turns(event_loop& loop)
  : loop_(loop), next_(loop.base(), -1, 0, [this] { run(); }) {
  // nop
}

void read_turns::run() {
  auto& pace = loop_.pace();
  const auto now = std::chrono::steady_clock::now();
  if (const auto wait = pace.wait(now); wait > bulk_pace::duration::zero()) {
    next_.fire_after(wait);
    return;
  }
  const auto most = pace.is_urgent(now) ? bytes_beside_urgent : bytes_per_pass;
  auto left = most;
  auto sum = size_t{0};
  try {
    while (!waiting_.empty() && left > 0) {
      auto* x = waiting_.front();
      waiting_.pop_front();
      x->is_waiting_ = false;
      const auto size = x->read_(most);
      sum += size;
      left -= std::min(left, std::max(size, least_bytes));
    }
  } catch (...) {
    // For want of memory: the others have their turns all the same.
    is_due_ = !waiting_.empty();
    if (is_due_)
      next_.fire_now();
    throw;
  }
  pace.on_sent(now, sum);
  is_due_ = !waiting_.empty();
  if (is_due_)
    next_.fire_after(std::chrono::nanoseconds::zero());
}

} // namespace troupe
