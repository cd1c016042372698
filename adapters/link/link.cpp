#include "adapters/link/link.hpp"

#include "adapters/link/link_replies.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "adapters/sockets/system_error.hpp"
#include "adapters/wire/pushes.hpp"
#include "messages/status.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <exception>
#include <new>
#include <utility>
#include <vector>

namespace troupe {

namespace {

/// What may wait to be sent; a request beyond it is refused.
constexpr size_t max_queued = size_t{64} << 20;

/// Servers use the upper half of the range themselves.
/// Source: OpenPMIx wire protocol, checklists.
constexpr uint32_t max_tag = INT32_MAX;

bool would_block(int code) {
  return code == EAGAIN || code == EWOULDBLOCK;
}

caf::error lost(const std::string& why) {
  return make_error(status::lost_connection, why);
}

caf::error closed() {
  return lost("the connection is closed");
}

/// What has to go before a registration of default handlers: servers of
/// OpenPMIx up to 6.1 note one only beside another; the first of all hears
/// nothing, and is told that all is well. They keep them under a code, and who
/// names that is noted. Source: OpenPMIx, pull request 4055.
std::optional<wire::request> naming_default_handlers(const wire::request& x) {
  const auto* events = std::get_if<register_events_request>(&x);
  if (events == nullptr || !events->codes.empty())
    return std::nullopt;
  return register_events_request{{default_events}, events->directives};
}

} // namespace

link::link(event_loop& loop, server_connection peer, callbacks handlers)
  : loop_(loop), peer_(std::move(peer)), handlers_(std::move(handlers)),
    readiness_(::epoll_create1(EPOLL_CLOEXEC)) {
  // nop
}

link::~link() {
  reads_.reset();
  writes_.reset();
}

void link::start() {
  // Every call says whether it waits: who waits for a reply waits in the read.
  if (const auto flags = ::fcntl(peer_.fd.get(), F_GETFL); flags >= 0)
    ::fcntl(peer_.fd.get(), F_SETFL, flags & ~O_NONBLOCK);
  auto interest = epoll_event{};
  interest.events = EPOLLIN;
  if (!readiness_
      || ::epoll_ctl(readiness_.get(), EPOLL_CTL_ADD, peer_.fd.get(), &interest)
           != 0) {
    lose(system_error("epoll"), true);
    return;
  }
  {
    const auto guard = std::lock_guard{mutex_};
    is_started_ = true;
  }
  if (loop_.in_loop_thread()) {
    begin_watching();
    return;
  }
  // Not before it runs: of those who only ask each reads by himself.
  loop_.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self)
      return;
    try {
      self->begin_watching();
    } catch (const std::exception&) {
      refill_memory_reserve();
      self->lose(lost("no memory or descriptor to watch the connection"), true);
    }
  });
}

/// Has the loop read what comes, and send what waits. On its thread.
void link::begin_watching() {
  if (!is_open())
    return;
  // The link may end while these wait to be called.
  const auto weak = weak_from_this();
  auto reads = std::make_unique<fd_watch>(loop_, readiness_.get(), [weak] {
    if (const auto self = weak.lock())
      self->read_in_loop();
  });
  writes_ = std::make_unique<fd_watch>(
    loop_, peer_.fd.get(), [] {},
    [weak] {
      if (const auto self = weak.lock())
        self->write_queued();
    });
  reads_ = std::move(reads);
  update_reading();
}

bool link::is_open() const {
  const auto guard = std::lock_guard{mutex_};
  return is_open_;
}

void link::in_loop(std::function<void()> task) {
  if (loop_.in_loop_thread())
    task();
  else
    loop_.post(std::move(task));
}

// -- writing -----------------------------------------------------------------

/// Numbers the next request. @pre locked
uint32_t link::next_tag() {
  do
    last_tag_ =
      last_tag_ >= max_tag ? wire::tag_first_request + 1 : last_tag_ + 1;
  while (pending_.count(last_tag_) != 0);
  return last_tag_;
}

/// Sends bytes, or keeps what the kernel does not take. What has begun to go
/// out is kept without a copy, since there may be no memory for one. @pre
/// locked
/// @throws std::bad_alloc if there is none for what waits behind other bytes:
///                        then nothing of it is sent.
caf::error link::send(std::string bytes) {
  if (queue_.empty()) {
    auto done = ssize_t{0};
    do
      done = ::send(peer_.fd.get(), bytes.data(), bytes.size(),
                    MSG_NOSIGNAL | MSG_DONTWAIT);
    while (done < 0 && errno == EINTR);
    if (done < 0 && !would_block(errno))
      return lost(reason_of(system_error("write")));
    if (done > 0)
      bytes.erase(0, static_cast<size_t>(done));
    if (bytes.empty())
      return caf::none;
    queue_ = std::move(bytes);
  } else {
    queue_ += bytes;
  }
  if (is_watching_write_)
    return caf::none;
  try {
    const auto self = shared_from_this();
    loop_.post([self] {
      if (self->writes_)
        self->writes_->enable_write();
    });
    is_watching_write_ = true;
  } catch (const std::bad_alloc&) {
    return lost("no memory to send");
  }
  return caf::none;
}

/// The same, after what waits until the server has looked at its news. @pre
/// locked
caf::error link::send_in_turn(std::string bytes) {
  if (has_news_ && !is_holding_)
    if (auto failure = send_news())
      return failure;
  if (!is_holding_)
    return send(std::move(bytes));
  // The order stays; what is queued waits for the news before it and no others.
  (has_news_ || !later_.empty() ? later_ : held_) += bytes;
  return caf::none;
}

/// Asks for the leave of a group that there cannot be: the server looks at what
/// there is of groups before it says so. @pre locked
caf::error link::send_news() {
  const auto ask = wire::request{group_leave_request{}};
  auto bytes = std::string{};
  const auto tag = next_tag();
  wire::begin_frame(bytes, tag, peer_.index);
  auto err = wire::encode_request(ask, peer_.rules, bytes);
  if (!err)
    err = wire::end_frame(bytes, 0);
  if (err)
    return err;
  const auto done = [self = weak_from_this()](const outcome&) {
    if (const auto x = self.lock())
      x->go_on();
  };
  pending_.emplace(tag,
                   pending{wire::command_of(ask), done, hand_over::anywhere});
  try {
    err = send(std::move(bytes));
  } catch (const std::bad_alloc&) {
    pending_.erase(tag);
    throw;
  }
  has_news_ = false;
  is_holding_ = true;
  return err;
}

/// The server has looked at its news: sends what has waited for that.
void link::go_on() {
  auto failure = caf::error{};
  {
    const auto guard = std::lock_guard{mutex_};
    is_holding_ = false;
    if (!is_open_)
      return;
    try {
      auto now = std::exchange(held_, std::exchange(later_, {}));
      if (!now.empty())
        failure = send(std::move(now));
      // There are more by now, which what has been queued since is about.
      if (!failure && !held_.empty())
        failure = has_news_ ? send_news() : send(std::exchange(held_, {}));
    } catch (const std::bad_alloc&) {
      failure = lost("no memory to send");
    }
  }
  if (failure)
    lose(std::move(failure), true);
}

void link::note_news() {
  const auto guard = std::lock_guard{mutex_};
  has_news_ = true;
}

void link::tell_news() {
  auto failure = caf::error{};
  {
    const auto guard = std::lock_guard{mutex_};
    if (!is_open_ || has_left_ || !has_news_ || is_holding_)
      return;
    failure = send_news();
  }
  if (intake_ == intake::answers)
    in_loop([self = shared_from_this()] { self->update_reading(); });
  if (failure)
    lose(std::move(failure), true);
}

void link::write_queued() {
  auto failure = caf::error{};
  {
    const auto guard = std::lock_guard{mutex_};
    if (is_open_ && !queue_.empty()) {
      const auto done = ::send(peer_.fd.get(), queue_.data(), queue_.size(),
                               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (done > 0)
        queue_.erase(0, static_cast<size_t>(done));
      else if (done < 0 && !would_block(errno) && errno != EINTR)
        failure = lost(reason_of(system_error("write")));
    }
    if (queue_.empty() || !is_open_) {
      writes_->disable_write();
      is_watching_write_ = false;
      queue_.shrink_to_fit();
    }
  }
  if (failure)
    lose(std::move(failure), true);
}

/// Sends a request and, with `entry`, notes who waits for the reply.
/// @returns why it was not sent; then `entry` is as before.
caf::error link::transmit(const wire::request& x, pending* entry) {
  auto bytes = std::string{};
  wire::begin_frame(bytes, 0, peer_.index);
  auto err = wire::encode_request(x, peer_.rules, bytes);
  if (!err)
    err = wire::end_frame(bytes, 0);
  if (err) {
    tell_garbled(err);
    return err;
  }
  auto header = wire::frame_header{};
  header.peer = peer_.index;
  header.length = static_cast<uint32_t>(bytes.size() - wire::frame_header_size);
  auto failure = caf::error{};
  auto awaits_answer = entry != nullptr;
  {
    const auto guard = std::lock_guard{mutex_};
    if (!is_open_)
      return failure_ ? failure_ : closed();
    // Events still come; what they ask is not answered any more.
    if (has_left_)
      return lost("the process has taken leave");
    has_left_ = std::holds_alternative<finalize_request>(x);
    if (queue_.size() + held_.size() + later_.size() + bytes.size()
        > max_queued)
      return make_error(status::out_of_resource,
                        "64 MiB wait for the server to read");
    header.tag = next_tag();
    const auto head = wire::encode_header(header, wire::byte_order::network);
    std::copy(head.begin(), head.end(), bytes.begin());
    if (entry != nullptr)
      pending_.emplace(header.tag, std::move(*entry));
    try {
      failure = send_in_turn(std::move(bytes));
    } catch (const std::bad_alloc&) {
      if (auto node = pending_.extract(header.tag); !node.empty())
        *entry = std::move(node.mapped());
      return make_error(status::nomem, "no memory to send a request");
    }
    awaits_answer |= is_holding_;
  }
  if (awaits_answer && intake_ == intake::answers)
    in_loop([self = shared_from_this()] { self->update_reading(); });
  // Fails the request itself as well.
  if (failure)
    lose(std::move(failure), true);
  return caf::none;
}

void link::submit(const wire::request& x, on_outcome done, hand_over where,
                  reply_reader read) {
  if (const auto named = naming_default_handlers(x)) {
    auto ignored = pending{wire::command_of(*named),
                           [](const outcome&) {
                             // That of the registration itself counts.
                           },
                           hand_over::anywhere};
    transmit(*named, &ignored);
  }
  auto entry =
    pending{wire::command_of(x), std::move(done), where, std::move(read)};
  if (!wire::is_answered(x)) {
    auto err = transmit(x, nullptr);
    hand(std::move(entry),
         err ? outcome{std::move(err)} : outcome{wire::reply_body{ack{}}});
    return;
  }
  if (auto err = transmit(x, &entry))
    hand(std::move(entry), std::move(err));
}

caf::error link::beat() {
  auto bytes = std::string{};
  wire::begin_frame(bytes, wire::tag_heartbeat, peer_.index);
  auto failure = caf::error{};
  {
    const auto guard = std::lock_guard{mutex_};
    if (!is_open_)
      return failure_ ? failure_ : closed();
    failure = send(std::move(bytes));
  }
  if (failure)
    lose(failure, true);
  return failure;
}

// -- reading: by the loop, or by whoever waits for a reply -------------------

namespace {

/// Bytes to ask the kernel for at a time.
constexpr size_t chunk_size = size_t{16} << 10;

/// What the loop reads in one pass.
constexpr int chunks_per_turn = 16;

/// How long whoever waits for an answer leaves the next chunk to the server
/// while our program does not take its output.
constexpr auto throttle = std::chrono::milliseconds{100};

} // namespace

struct link::waiter {
  std::optional<outcome> result; // guarded by mutex_ of the link
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
  auto has_more = true;
  auto has_room = true;
  for (auto i = 0; i < chunks_per_turn && !failure && has_more && has_room
                   && intake_ == intake::all;
       ++i) {
    failure = receive(false, has_more);
    const auto guard = std::lock_guard{mutex_};
    has_room = !is_full();
  }
  if (!failure && intake_ == intake::answers)
    failure = receive(false, has_more);
  {
    const auto guard = std::lock_guard{mutex_};
    is_reading_ = false;
    if (waiting_ > 0)
      changed_.notify_all(); // Somebody may read for himself.
  }
  if (intake_ != intake::all || !has_room)
    update_reading();
  if (failure)
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
/// @param has_more Becomes whether there may be more.
caf::error link::receive(bool wait, bool& has_more) {
  std::array<char, chunk_size> chunk;
  auto got = ssize_t{0};
  do
    got = ::recv(peer_.fd.get(), chunk.data(), chunk.size(),
                 wait ? 0 : MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  has_more = got == static_cast<ssize_t>(chunk.size());
  if (got < 0)
    return would_block(errno) ? caf::error{}
                              : lost(reason_of(system_error("read")));
  if (got == 0)
    return lost("the server closed the connection");
  return take_frames({chunk.data(), static_cast<size_t>(got)});
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
  auto has_more = true;
  while (!x.result && is_open_ && !failure
         && (!deadline || clock::now() < *deadline)) {
    if (is_full())
      wait_for_room(lock);
    lock.unlock();
    if (deadline)
      await_readable(*deadline);
    failure = receive(!deadline, has_more);
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
                         std::optional<std::chrono::milliseconds> limit,
                         reply_reader read) {
  const auto deadline =
    limit ? std::optional{clock::now() + *limit} : std::nullopt;
  const auto me = std::make_shared<waiter>();
  const auto self = shared_from_this();
  submit(
    x,
    [self, me](outcome y) {
      const auto guard = std::lock_guard{self->mutex_};
      me->result.emplace(std::move(y));
      if (self->waiting_ > 0)
        self->changed_.notify_all();
    },
    hand_over::anywhere, std::move(read));
  auto lock = std::unique_lock{mutex_};
  while (!me->result) {
    if (deadline && clock::now() >= *deadline)
      return make_error(
        status::timeout,
        "the server does not answer; see whether it is stopped, or too busy");
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
  return std::move(*me->result);
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
  else if (x.tag == wire::tag_shared_memory)
    on_shared_memory(x);
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
  auto result = [&]() -> outcome {
    try {
      return entry.read ? entry.read(x.payload)
                        : read_reply(entry.asked, x.payload, peer_.rules);
    } catch (const std::bad_alloc&) {
      refill_memory_reserve();
    }
    return make_error(status::nomem, "no memory for the answer");
  }();
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

// -- output: how much of it may be on its way --------------------------------

bool link::counts_output() const {
  const auto guard = std::lock_guard{mutex_};
  return output_window_ > 0;
}

/// Whether nothing more should be read, since the server sends whatever it has.
/// @pre locked
bool link::is_full() const {
  return output_window_ == 0 && output_held_ > defaults::io_held_output;
}

output_receipt link::make_receipt(size_t size) {
  {
    const auto guard = std::lock_guard{mutex_};
    output_held_ += size;
  }
  return {static_cast<void*>(this), [size, weak = weak_from_this()](void*) {
            if (const auto self = weak.lock())
              self->take_output(size);
          }};
}

/// Our program has taken some: the server may send as much.
void link::take_output(size_t size) {
  auto failure = caf::error{};
  auto was_full = false;
  {
    const auto guard = std::lock_guard{mutex_};
    was_full = is_full();
    output_held_ -= size;
    output_taken_ += size;
    if (was_full && !is_full())
      changed_.notify_all();
    else
      was_full = false;
    const auto news = output_taken_ - output_told_;
    if (is_open_ && output_window_ > 0 && news >= output_window_ / 4) {
      output_told_ = output_taken_;
      auto bytes = std::string{};
      const auto start =
        wire::begin_frame(bytes, wire::tag_output_credit, peer_.index);
      wire::encode_output_credit(output_taken_, bytes);
      failure = wire::end_frame(bytes, start);
      if (!failure)
        failure = send(std::move(bytes));
    }
  }
  if (was_full)
    in_loop([self = shared_from_this()] { self->update_reading(); });
  if (failure)
    lose(std::move(failure), true);
}

void link::on_output(const wire::frame& x) {
  auto receipt = make_receipt(x.payload.size());
  auto what = wire::decode_output(x.payload, peer_.rules);
  if (!what) {
    tell_garbled(what.error());
    return;
  }
  in_order([self = shared_from_this(), receipt = std::move(receipt),
            what = std::move(*what)]() mutable {
    if (self->handlers_.on_output)
      self->handlers_.on_output(std::move(what), std::move(receipt));
  });
}

void link::on_flow_control(const wire::frame& x) {
  auto what = wire::decode_flow_control(x.payload, peer_.rules);
  if (!what) {
    tell_garbled(what.error());
    return;
  }
  in_order([self = shared_from_this(), what = std::move(*what)]() mutable {
    if (self->handlers_.on_flow_control)
      self->handlers_.on_flow_control(std::move(what));
  });
}

void link::on_shared_memory(const wire::frame& x) {
  const auto guard = std::lock_guard{mutex_};
  shared_memory_ = std::string{x.payload};
}

std::string link::shared_memory() const {
  const auto guard = std::lock_guard{mutex_};
  return shared_memory_;
}

void link::on_credit(const wire::frame& x) {
  const auto window = wire::decode_output_credit(x.payload);
  if (!window) {
    tell_garbled(window.error());
    return;
  }
  const auto guard = std::lock_guard{mutex_};
  output_window_ = *window;
}

// -- the end -----------------------------------------------------------------

void link::lose(caf::error why, bool tell) {
  auto open = std::unordered_map<uint32_t, pending>{};
  {
    const auto guard = std::lock_guard{mutex_};
    if (!is_open_)
      return;
    // There may be no memory for it: then nothing is changed.
    if (!why && !pending_.empty())
      why = closed();
    is_open_ = false;
    failure_ = why;
    open.swap(pending_);
    queue_.clear();
    held_.clear();
    later_.clear();
    // Wakes whoever reads. The descriptor stays until the link goes.
    ::shutdown(peer_.fd.get(), SHUT_RDWR);
    changed_.notify_all();
  }
  in_loop([self = shared_from_this()] {
    self->reads_.reset();
    self->writes_.reset();
  });
  // In their order; by extraction, which needs no memory.
  auto tags = std::vector<uint32_t>{};
  try {
    tags.reserve(open.size());
    for (const auto& x : open)
      tags.push_back(x.first);
    std::sort(tags.begin(), tags.end());
  } catch (const std::bad_alloc&) {
    // Then in any order.
  }
  for (const auto tag : tags)
    hand(std::move(open.extract(tag).mapped()), why);
  for (auto& x : open)
    hand(std::move(x.second), why);
  if (tell)
    in_order([self = shared_from_this(), why = std::move(why)] {
      if (self->handlers_.on_lost)
        self->handlers_.on_lost(why);
    });
}

void link::close() {
  lose(caf::none, false); // Most have nothing to fail, and make no error.
}

void link::abandon_after_fork() noexcept {
  ::close(peer_.fd.get());
  ::close(readiness_.get());
}

} // namespace troupe
