#include "adapters/lane/socket_bio.hpp"

#include "adapters/lane/openssl_handles.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace troupe {

namespace {

bool would_block(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

int read_socket(BIO* x, char* out, size_t size, size_t* got) {
  BIO_clear_retry_flags(x);
  auto& traffic = *static_cast<socket_traffic*>(BIO_get_data(x));
  if (traffic.readable == 0 || traffic.is_drained) {
    BIO_set_retry_read(x);
    return 0;
  }
  const auto wanted = std::min(size, traffic.readable);
  const auto n = ::recv(traffic.fd, out, wanted, MSG_DONTWAIT);
  if (n > 0) {
    *got = static_cast<size_t>(n);
    traffic.is_drained = *got < wanted;
    traffic.readable -= *got;
    traffic.received += *got;
    return 1;
  }
  if (n == 0)
    traffic.is_closed = true;
  else if (would_block(errno))
    BIO_set_retry_read(x);
  else
    traffic.failure = errno;
  return 0;
}

int write_socket(BIO* x, const char* bytes, size_t size, size_t* done) {
  BIO_clear_retry_flags(x);
  auto& traffic = *static_cast<socket_traffic*>(BIO_get_data(x));
  const auto n = ::send(traffic.fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n >= 0) {
    *done = static_cast<size_t>(n);
    traffic.sent += *done;
    return 1;
  }
  if (would_block(errno))
    BIO_set_retry_write(x);
  else
    traffic.failure = errno;
  return 0;
}

long control(BIO* x, int command, long number, void* argument) {
  (void)number;
  (void)argument;
  switch (command) {
    case BIO_CTRL_EOF:
      return static_cast<socket_traffic*>(BIO_get_data(x))->is_closed ? 1 : 0;
    case BIO_CTRL_FLUSH:
      return 1;
    default:
      return 0;
  }
}

BIO_METHOD* make_method() {
  auto* result =
    BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "troupe lane");
  if (result != nullptr) {
    BIO_meth_set_read_ex(result, read_socket);
    BIO_meth_set_write_ex(result, write_socket);
    BIO_meth_set_ctrl(result, control);
  }
  return result;
}

} // namespace

BIO* new_socket_bio(socket_traffic* traffic) {
  static const auto method = openssl_ptr<BIO_METHOD>{make_method()};
  auto* result = method ? BIO_new(method.get()) : nullptr;
  if (result != nullptr) {
    BIO_set_data(result, traffic);
    BIO_set_init(result, 1);
  }
  return result;
}

} // namespace troupe
