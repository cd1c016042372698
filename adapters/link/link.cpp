#include "adapters/link/link.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
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
  // The link may end while these wait to be called.
  const auto weak = weak_from_this();
  reads_ = std::make_unique<fd_watch>(loop_, readiness_.get(), [weak] {
    if (const auto self = weak.lock())
      self->read_in_loop();
  });
  writes_ = std::make_unique<fd_watch>(
    loop_, peer_.fd.get(), [] {},
    [weak] {
      if (const auto self = weak.lock())
        self->write_queued();
    });
  reads_->enable_read();
  const auto guard = std::lock_guard{mutex_};
  is_started_ = true;
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
  {
    const auto guard = std::lock_guard{mutex_};
    if (!is_open_)
      return failure_ ? failure_ : lost("the connection is closed");
    // Events still come; what they ask is not answered any more.
    if (has_left_)
      return lost("the process has taken leave");
    has_left_ = std::holds_alternative<finalize_request>(x);
    if (queue_.size() + bytes.size() > max_queued)
      return make_error(status::out_of_resource,
                        "64 MiB wait for the server to read");
    header.tag = next_tag();
    const auto head = wire::encode_header(header, wire::byte_order::network);
    std::copy(head.begin(), head.end(), bytes.begin());
    if (entry != nullptr)
      pending_.emplace(header.tag, std::move(*entry));
    try {
      failure = send(std::move(bytes));
    } catch (const std::bad_alloc&) {
      if (auto node = pending_.extract(header.tag); !node.empty())
        *entry = std::move(node.mapped());
      return make_error(status::nomem, "no memory to send a request");
    }
  }
  if (entry != nullptr && intake_ == intake::answers)
    in_loop([self = shared_from_this()] { self->update_reading(); });
  // Fails the request itself as well.
  if (failure)
    lose(std::move(failure), true);
  return caf::none;
}

void link::submit(const wire::request& x, on_outcome done, hand_over where) {
  if (const auto named = naming_default_handlers(x)) {
    auto ignored = pending{wire::command_of(*named),
                           [](const outcome&) {
                             // That of the registration itself counts.
                           },
                           hand_over::anywhere};
    transmit(*named, &ignored);
  }
  auto entry = pending{wire::command_of(x), std::move(done), where};
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
      return failure_ ? failure_ : lost("the connection is closed");
    failure = send(std::move(bytes));
  }
  if (failure)
    lose(failure, true);
  return failure;
}

// -- the end -----------------------------------------------------------------

void link::lose(caf::error why, bool tell) {
  auto open = std::unordered_map<uint32_t, pending>{};
  {
    const auto guard = std::lock_guard{mutex_};
    if (!std::exchange(is_open_, false))
      return;
    failure_ = why;
    open.swap(pending_);
    queue_.clear();
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
  lose(lost("the connection is closed"), false);
}

void link::abandon_after_fork() noexcept {
  ::close(peer_.fd.get());
  ::close(readiness_.get());
}

} // namespace troupe
