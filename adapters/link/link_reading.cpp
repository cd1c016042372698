// The part of a link that reads: the loop, or whoever waits for a reply.

#include "adapters/link/link.hpp"
#include "adapters/link/link_replies.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "adapters/sockets/system_error.hpp"
#include "adapters/wire/pushes.hpp"
#include "messages/status.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace troupe {

namespace {

/// Bytes to ask the kernel for at a time.
constexpr size_t chunk_size = size_t{16} << 10;

/// What the loop reads in one pass.
constexpr int chunks_per_turn = 16;

/// How long whoever waits for an answer leaves the next chunk to the server
/// while our program does not take its output.
constexpr auto throttle = std::chrono::milliseconds{100};

bool would_block(int code) {
  return code == EAGAIN || code == EWOULDBLOCK;
}

caf::error lost(const std::string& why) {
  return make_error(status::lost_connection, why);
}

} // namespace

struct link::waiter {
  bool is_done = false; // guarded by mutex_ of the link
  outcome result = make_error(status::error);
};

/// Takes the part of the one who reads. @pre locked
bool link::take_reading() {
  if (is_reading_ || !is_open_ || !is_started_)
    return false;
  is_reading_ = true;
  return true;
}

void link::set_intake(intake x) {
  intake_ = x;
  update_reading();
}

/// Has the loop read or not.
void link::update_reading() {
  auto wants = intake_ == intake::all;
  {
    const auto guard = std::lock_guard{mutex_};
    if (intake_ == intake::answers)
      wants = !pending_.empty();
    wants = wants && !is_full();
  }
  if (!reads_)
    return;
  if (wants)
    reads_->enable_read();
  else
    reads_->disable_read();
}

void link::read_in_loop() {
  {
    const auto guard = std::lock_guard{mutex_};
    if (!take_reading())
      return;
  }
  auto failure = caf::error{};
  auto has_room = true;
  for (auto i = 0;
       i < chunks_per_turn && !failure && has_room && intake_ == intake::all;
       ++i) {
    failure = receive(false);
    const auto guard = std::lock_guard{mutex_};
    has_room = !is_full();
  }
  if (intake_ == intake::answers)
    failure = receive(false);
  {
    const auto guard = std::lock_guard{mutex_};
    is_reading_ = false;
    if (waiting_ > 0)
      changed_.notify_all(); // Somebody may read for himself.
  }
  if (intake_ != intake::all || !has_room)
    update_reading();
  if (failure && status_of(failure) != status::would_block)
    lose(std::move(failure), true);
}

/// Lets the loop read again. @pre locked
void link::give_reading_back() {
  is_reading_ = false;
  if (waiting_ > 0)
    changed_.notify_all();
  if (!is_open_)
    return;
  auto interest = epoll_event{};
  interest.events = EPOLLIN;
  ::epoll_ctl(readiness_.get(), EPOLL_CTL_MOD, peer_.fd.get(), &interest);
}

/// Waits until something can be read, or until `deadline`.
void link::await_readable(clock::time_point deadline) {
  const auto left =
    std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now())
      .count();
  auto state = pollfd{peer_.fd.get(), POLLIN, 0};
  ::poll(&state, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
}

/// Reads what is there, or, if it is to wait, what comes first.
/// @returns `would_block` if nothing is there, or nothing more.
caf::error link::receive(bool wait) {
  std::array<char, chunk_size> chunk;
  auto got = ssize_t{0};
  do
    got = ::recv(peer_.fd.get(), chunk.data(), chunk.size(),
                 wait ? 0 : MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return would_block(errno) ? make_error(status::would_block)
                              : lost(reason_of(system_error("read")));
  if (got == 0)
    return lost("the server closed the connection");
  auto failure = take_frames({chunk.data(), static_cast<size_t>(got)});
  if (failure)
    return failure;
  if (static_cast<size_t>(got) < chunk.size())
    return make_error(status::would_block);
  return caf::none;
}

/// Takes what has been read.
caf::error link::take_frames(std::string_view bytes) {
  try {
    reader_.push(bytes);
    while (const auto x = reader_.next())
      on_frame(*x);
    hand_events();
    if (reader_.failure())
      tell_garbled(reader_.failure());
    if (reader_.failure())
      return lost("the server breaks the protocol: "
                  + reason_of(reader_.failure()));
    return caf::none;
  } catch (const std::bad_alloc&) {
    // Some of what came is gone, and nobody knows which.
    refill_memory_reserve();
    return lost("no memory for what the server sends");
  }
}

/// Reads for as long as `x` waits. @pre locked, by who takes the reading
void link::read_for(const waiter& x, std::optional<clock::time_point> deadline,
                    std::unique_lock<std::mutex>& lock) {
  // The loop must not wake for what we read.
  auto interest = epoll_event{};
  ::epoll_ctl(readiness_.get(), EPOLL_CTL_MOD, peer_.fd.get(), &interest);
  auto failure = caf::error{};
  while (!x.is_done && is_open_ && !failure
         && (!deadline || clock::now() < *deadline)) {
    if (is_full())
      wait_for_room(lock);
    lock.unlock();
    if (deadline)
      await_readable(*deadline);
    failure = receive(!deadline);
    if (failure && status_of(failure) == status::would_block)
      failure = caf::none;
    lock.lock();
  }
  give_reading_back();
  if (!failure)
    return;
  lock.unlock();
  lose(std::move(failure), true);
  lock.lock();
}

/// Waits until our program has taken output, but no longer than a moment: it
/// may be waiting for what we read. @pre locked, by who reads
void link::wait_for_room(std::unique_lock<std::mutex>& lock) {
  changed_.wait_for(lock, throttle, [this] { return !is_full() || !is_open_; });
}

link::outcome link::call(const wire::request& x,
                         std::optional<std::chrono::milliseconds> limit) {
  const auto deadline =
    limit ? std::optional{clock::now() + *limit} : std::nullopt;
  const auto me = std::make_shared<waiter>();
  const auto self = shared_from_this();
  submit(
    x,
    [self, me](outcome y) {
      const auto guard = std::lock_guard{self->mutex_};
      me->result = std::move(y);
      me->is_done = true;
      if (self->waiting_ > 0)
        self->changed_.notify_all();
    },
    hand_over::anywhere);
  auto lock = std::unique_lock{mutex_};
  while (!me->is_done) {
    if (deadline && clock::now() >= *deadline)
      return make_error(status::timeout, "the server does not answer");
    if (take_reading()) {
      read_for(*me, deadline, lock);
      continue;
    }
    ++waiting_;
    if (deadline)
      changed_.wait_until(lock, *deadline);
    else
      changed_.wait(lock);
    --waiting_;
  }
  return std::move(me->result);
}

void link::on_frame(const wire::frame& x) {
  if (x.tag == wire::tag_event) {
    auto what = wire::decode_event(x.payload, peer_.rules);
    if (what) {
      events_.events.push_back(std::make_shared<const event>(std::move(*what)));
      return;
    }
    hand_events();
    tell_garbled(what.error());
    return;
  }
  hand_events();
  if (x.tag >= wire::tag_first_request)
    on_reply(x);
  else if (x.tag == wire::tag_output)
    on_output(x);
  else if (x.tag == wire::tag_flow_control)
    on_flow_control(x);
  else if (x.tag == wire::tag_output_credit)
    on_credit(x);
}

void link::hand_events() {
  if (events_.events.empty())
    return;
  in_order(
    [self = shared_from_this(), what = std::exchange(events_, {})]() mutable {
      if (self->handlers_.on_events)
        self->handlers_.on_events(std::move(what));
    });
}

/// Source: RFC0002, "Client-Based Notifications", PMIX_ERR_FAILED_COMM.
void link::tell_garbled(const caf::error& why) {
  in_order([self = shared_from_this(), why] {
    if (self->handlers_.on_garbled)
      self->handlers_.on_garbled(why);
  });
}

void link::on_reply(const wire::frame& x) {
  auto entry = pending{};
  {
    const auto guard = std::lock_guard{mutex_};
    const auto i = pending_.find(x.tag);
    if (i == pending_.end())
      return; // Nobody waits for it.
    entry = std::move(i->second);
    pending_.erase(i);
  }
  auto result = outcome{make_error(status::nomem, "no memory for the answer")};
  try {
    result = read_reply(entry.asked, x.payload, peer_.rules);
  } catch (const std::bad_alloc&) {
    refill_memory_reserve();
  }
  if (!result && is_unreadable(result.error()))
    tell_garbled(result.error());
  if (entry.where == hand_over::anywhere) {
    entry.done(std::move(result));
    return;
  }
  auto parcel = std::make_shared<std::pair<pending, outcome>>(
    std::move(entry), std::move(result));
  in_order([parcel] { parcel->first.done(std::move(parcel->second)); });
}

void link::keep_in_order(std::function<void()> task) {
  auto is_first = false;
  {
    const auto guard = std::lock_guard{mutex_};
    is_first = arrivals_.empty();
    arrivals_.push_back(std::move(task));
  }
  const auto hand_over = [self = shared_from_this()] {
    if (!std::exchange(self->is_handing_, true))
      self->hand_arrivals();
  };
  if (loop_.in_loop_thread() || (is_first && !loop_.post(hand_over)))
    hand_over(); // In the second case the loop has ended: nobody else does it.
}

/// @returns whether the calling thread may run a task at once; then it has to
///          call `hand_arrivals`.
bool link::begin_handing() {
  if (!loop_.in_loop_thread() || is_handing_)
    return false;
  const auto guard = std::lock_guard{mutex_};
  is_handing_ = arrivals_.empty();
  return is_handing_;
}

/// Runs what waits, until there is nothing more.
void link::hand_arrivals() {
  for (;;) {
    auto tasks = std::deque<std::function<void()>>{};
    {
      const auto guard = std::lock_guard{mutex_};
      if (arrivals_.empty())
        break;
      tasks.swap(arrivals_);
    }
    for (auto& task : tasks) {
      try {
        task();
      } catch (const std::bad_alloc&) {
        refill_memory_reserve(); // The others are not to be lost.
      }
    }
  }
  is_handing_ = false;
}

void link::hand(pending x, outcome y) {
  if (x.where == hand_over::anywhere) {
    x.done(std::move(y));
    return;
  }
  auto parcel = std::shared_ptr<std::pair<pending, outcome>>{};
  try {
    parcel =
      std::make_shared<std::pair<pending, outcome>>(std::move(x), std::move(y));
    if (loop_.post([parcel] { parcel->first.done(std::move(parcel->second)); }))
      return;
  } catch (const std::bad_alloc&) {
    // Better here than not at all; what could not be made has taken nothing.
    refill_memory_reserve();
  }
  if (parcel)
    parcel->first.done(std::move(parcel->second));
  else
    x.done(std::move(y));
}

} // namespace troupe
