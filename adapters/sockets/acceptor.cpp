#include "adapters/sockets/acceptor.hpp"

#include "adapters/sockets/tcp_socket.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <utility>

namespace troupe {

namespace {

/// How long to take connections, all passes of the loop together, before a rest
/// that is as long. Shorter ones would be mostly waking up.
constexpr auto most_work = std::chrono::milliseconds{1};

/// Whether `reserve` descriptors would remain if one more were in use.
/// @param any_fd Any descriptor that is open.
bool has_descriptors(int any_fd, size_t reserve) {
  const auto next = unique_fd{::fcntl(any_fd, F_DUPFD_CLOEXEC, 0)};
  rlimit limit{};
  if (!next || ::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return static_cast<bool>(next);
  // The kernel gives out the lowest that is free.
  return limit.rlim_cur == RLIM_INFINITY
         || static_cast<rlim_t>(next.get()) + reserve < limit.rlim_cur;
}

} // namespace

acceptor::door::door(acceptor& parent, unique_fd x, size_t number)
  : socket(std::move(x)), number(number),
    watch(parent.loop_, socket.get(), [&] { parent.accept(*this); }) {
  watch.enable_read();
}

acceptor::acceptor(event_loop& loop, const bounds& limits, callbacks handlers)
  : loop_(loop), bounds_(limits), handlers_(std::move(handlers)),
    retry_(loop, [this] { go_on(); }) {
  // nop
}

void acceptor::add(unique_fd listening) {
  doors_.emplace_back(*this, std::move(listening), doors_.size());
}

void acceptor::close() {
  retry_.cancel();
  doors_.clear();
}

void acceptor::accept(const door& from) {
  const auto start = std::chrono::steady_clock::now();
  if (start - last_end_ > most_work)
    worked_ = {};
  take_from(from);
  last_end_ = std::chrono::steady_clock::now();
  worked_ += last_end_ - start;
  if (worked_ < most_work || doors_.empty() || retry_.is_running())
    return;
  rest(worked_);
  worked_ = {};
}

void acceptor::take_from(const door& from) {
  for (auto left = bounds_.turn; left > 0; --left) {
    if (!has_descriptors(from.socket.get(), bounds_.descriptors_in_reserve)) {
      pause();
      return;
    }
    auto socket = accept_from(from.socket.get());
    if (socket) {
      handlers_.on_connection(std::move(socket), from.number);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK)
      return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS
        || errno == ENOMEM) {
      pause();
      return;
    }
    // Any other error is about a connection that broke while it waited.
  }
}

void acceptor::rest(std::chrono::nanoseconds time) {
  for (auto& x : doors_)
    x.watch.disable_read();
  retry_.start(time);
}

void acceptor::pause() {
  rest(bounds_.retry);
  handlers_.on_pause();
}

void acceptor::go_on() {
  if (doors_.empty())
    return;
  if (!has_descriptors(doors_.front().socket.get(),
                       bounds_.descriptors_in_reserve)) {
    retry_.start(bounds_.retry);
    return;
  }
  for (auto& x : doors_)
    x.watch.enable_read();
}

} // namespace troupe
