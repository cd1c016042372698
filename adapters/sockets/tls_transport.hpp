#pragma once

#include "adapters/sockets/openssl_handles.hpp"
#include "adapters/sockets/transport.hpp"

namespace troupe {

/// Moves bytes secretly and unchanged: OpenSSL above the socket. OpenSSL's own
/// way to a socket knows no limits and would raise SIGPIPE in our host's process.
class tls_transport : public transport {
public:
  /// What one record of TLS holds.
  static constexpr size_t record_size = SSL3_RT_MAX_PLAIN_LENGTH;

  /// @param tls May be null, for want of memory.
  tls_transport(unique_fd socket, openssl_ptr<SSL> tls);

  /// Null if there is no memory for it, or for its way to the socket.
  SSL* tls() const noexcept {
    return tls_.get();
  }

  outcome read(char* to, size_t size, size_t& got) override;

  outcome write(const char* bytes, size_t size, size_t& done) override;

  outcome write_queue(evbuffer* queue, size_t& done) override;

  size_t piece() const noexcept override {
    return record_size;
  }

  bool is_drained() const noexcept override;

  caf::error failure(const char* what) override;

  void say_farewell() override;

private:
  static int read_socket(BIO* x, char* out, size_t size, size_t* got);
  static int write_socket(BIO* x, const char* bytes, size_t size, size_t* done);
  static long control(BIO* x, int command, long number, void* argument);
  static BIO_METHOD* make_method();
  BIO* new_bio();

  openssl_ptr<SSL> tls_;

  /// There was no memory for a piece of the queue.
  bool is_short_ = false;
};

} // namespace troupe
