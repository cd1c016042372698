#include "adapters/sockets/transport.hpp"

#include "adapters/sockets/system_error.hpp"

#include <event2/buffer.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <numeric>

namespace troupe {

namespace {

/// Pieces of the queue to hand to the kernel at a time.
constexpr int max_pieces = 16;

bool would_block(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

} // namespace

transport::outcome transport::receive(char* to, size_t size, size_t& got) {
  got = 0;
  if (allowance_ == 0 || is_drained_)
    return outcome::no_input;
  const auto wanted = std::min(size, allowance_);
  const auto n = ::recv(socket_.get(), to, wanted, MSG_DONTWAIT);
  if (n > 0) {
    got = static_cast<size_t>(n);
    is_drained_ = got < wanted;
    allowance_ -= got;
    received_ += got;
    return outcome::done;
  }
  if (n == 0) {
    is_closed_ = true;
    return outcome::closed;
  }
  if (would_block(errno))
    return outcome::no_input;
  error_number_ = errno;
  return outcome::failed;
}

transport::outcome transport::transmit(const char* bytes, size_t size,
                                       size_t& done) {
  return after_sending(
    ::send(socket_.get(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT), done);
}

transport::outcome transport::after_sending(ssize_t moved, size_t& done) {
  done = moved > 0 ? static_cast<size_t>(moved) : 0;
  sent_ += done;
  if (moved >= 0)
    return outcome::done;
  if (would_block(errno))
    return outcome::no_room;
  error_number_ = errno;
  return outcome::failed;
}

transport::outcome transport::read(char* to, size_t size, size_t& got) {
  return receive(to, size, got);
}

transport::outcome transport::write(const char* bytes, size_t size,
                                    size_t& done) {
  return transmit(bytes, size, done);
}

transport::outcome transport::write_queue(evbuffer* queue, size_t& done) {
  std::array<evbuffer_iovec, max_pieces> pieces;
  const auto n = std::min(
    evbuffer_peek(queue, -1, nullptr, pieces.data(), max_pieces), max_pieces);
  // Not `evbuffer_write`: it would raise SIGPIPE in our host's process.
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = static_cast<size_t>(n);
  const auto result = after_sending(
    ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT), done);
  const auto offered = std::accumulate(
    pieces.begin(), pieces.begin() + n, size_t{0},
    [](size_t sum, const evbuffer_iovec& x) { return sum + x.iov_len; });
  return result == outcome::done && done < offered ? outcome::no_room : result;
}

size_t transport::piece() const noexcept {
  return std::numeric_limits<size_t>::max();
}

caf::error transport::failure(const char* what) {
  return system_error(name_ != nullptr ? name_ : what, error_number_);
}

} // namespace troupe
