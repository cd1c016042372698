#include "adapters/sockets/tls_transport.hpp"

#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <event2/buffer.h>
#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// What `SSL_get_error` says depends on the errors of earlier calls. There are
/// none as a rule, and to clear none takes longer than to look.
void forget_errors() {
  if (ERR_peek_error() != 0)
    ERR_clear_error();
}

transport::outcome outcome_of(int code) {
  switch (code) {
    case SSL_ERROR_WANT_READ:
      return transport::outcome::no_input;
    case SSL_ERROR_WANT_WRITE:
      return transport::outcome::no_room;
    case SSL_ERROR_ZERO_RETURN:
      return transport::outcome::closed;
    default:
      return transport::outcome::failed;
  }
}

} // namespace

// -- the way of OpenSSL to the socket ----------------------------------------

int tls_transport::read_socket(BIO* x, char* out, size_t size, size_t* got) {
  BIO_clear_retry_flags(x);
  auto& self = *static_cast<tls_transport*>(BIO_get_data(x));
  const auto result = self.receive(out, size, *got);
  if (result == outcome::no_input)
    BIO_set_retry_read(x);
  return result == outcome::done ? 1 : 0;
}

int tls_transport::write_socket(BIO* x, const char* bytes, size_t size,
                                size_t* done) {
  BIO_clear_retry_flags(x);
  auto& self = *static_cast<tls_transport*>(BIO_get_data(x));
  const auto result = self.transmit(bytes, size, *done);
  if (result == outcome::no_room)
    BIO_set_retry_write(x);
  return result == outcome::done ? 1 : 0;
}

long tls_transport::control(BIO* x, int command, long number, void* argument) {
  (void)number;
  (void)argument;
  switch (command) {
    case BIO_CTRL_EOF:
      return static_cast<tls_transport*>(BIO_get_data(x))->is_closed() ? 1 : 0;
    case BIO_CTRL_FLUSH:
      return 1;
    default:
      return 0;
  }
}

BIO_METHOD* tls_transport::make_method() {
  auto* result =
    BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "troupe lane");
  if (result != nullptr) {
    BIO_meth_set_read_ex(result, read_socket);
    BIO_meth_set_write_ex(result, write_socket);
    BIO_meth_set_ctrl(result, control);
  }
  return result;
}

BIO* tls_transport::new_bio() {
  static const auto method = openssl_ptr<BIO_METHOD>{make_method()};
  auto* result = method ? BIO_new(method.get()) : nullptr;
  if (result != nullptr) {
    BIO_set_data(result, this);
    BIO_set_init(result, 1);
  }
  return result;
}

tls_transport::tls_transport(unique_fd socket, openssl_ptr<SSL> tls)
  : transport(std::move(socket), "lane"), tls_(std::move(tls)) {
  if (!tls_)
    return;
  if (auto* bio = new_bio())
    SSL_set_bio(tls_.get(), bio, bio);
  else
    tls_.reset();
}

// -- bytes of the owner ------------------------------------------------------

transport::outcome tls_transport::read(char* to, size_t size, size_t& got) {
  forget_errors();
  const auto n =
    SSL_read(tls_.get(), to, static_cast<int>(std::min(size, record_size)));
  got = n > 0 ? static_cast<size_t>(n) : 0;
  return n > 0 ? outcome::done : outcome_of(SSL_get_error(tls_.get(), n));
}

transport::outcome tls_transport::write(const char* bytes, size_t size,
                                        size_t& done) {
  forget_errors();
  const auto n =
    SSL_write(tls_.get(), bytes, static_cast<int>(std::min(size, record_size)));
  done = n > 0 ? static_cast<size_t>(n) : 0;
  if (n > 0)
    return outcome::done;
  const auto code = SSL_get_error(tls_.get(), n);
  return code == SSL_ERROR_WANT_WRITE || code == SSL_ERROR_WANT_READ
           ? outcome::no_room
           : outcome::failed;
}

transport::outcome tls_transport::write_queue(evbuffer* queue, size_t& done) {
  done = 0;
  // A write that is tried again has to be as long as before at least.
  const auto size = std::min(evbuffer_get_length(queue), record_size);
  const auto* bytes = evbuffer_pullup(queue, static_cast<ev_ssize_t>(size));
  if (bytes == nullptr) {
    is_short_ = true;
    return outcome::failed;
  }
  return write(reinterpret_cast<const char*>(bytes), size, done);
}

bool tls_transport::is_drained() const noexcept {
  return transport::is_drained() && SSL_has_pending(tls_.get()) == 0;
}

caf::error tls_transport::failure(const char* what) {
  if (is_short_)
    return make_error(status::nomem, "no memory for what it is sent");
  const auto reason = take_openssl_error();
  if (error_number() != 0)
    return transport::failure(what);
  return make_error(status::lost_connection,
                    is_closed() ? "cut without a farewell" : reason);
}

void tls_transport::say_farewell() {
  SSL_shutdown(tls_.get());
}

} // namespace troupe
