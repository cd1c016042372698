#include "adapters/http/tls_front.hpp"

#include "adapters/loop/read_write.hpp"
#include "adapters/sockets/openssl_handles.hpp"
#include "adapters/sockets/system_error.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

namespace troupe {

struct tls_front::context {
  openssl_ptr<SSL_CTX> tls;
};

struct tls_front::connection {
  std::atomic<bool> has_ended{false};
  std::thread worker;
};

namespace {

using steady = std::chrono::steady_clock;

constexpr size_t room_size = size_t{16} << 10;

/// An address of the system's.
struct socket_name {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* get() {
    return reinterpret_cast<sockaddr*>(&storage);
  }
};

/// @returns a size of 0 for what is no numeric address.
socket_name name_of(const std::string& address, uint16_t port) {
  auto result = socket_name{};
  auto four = sockaddr_in{};
  auto six = sockaddr_in6{};
  if (::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&result.storage, &four, sizeof(four));
    result.size = sizeof(four);
  } else if (::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::memcpy(&result.storage, &six, sizeof(six));
    result.size = sizeof(six);
  }
  return result;
}

uint16_t port_of(const socket_name& x) {
  if (x.storage.ss_family == AF_INET) {
    auto four = sockaddr_in{};
    std::memcpy(&four, &x.storage, sizeof(four));
    return ntohs(four.sin_port);
  }
  auto six = sockaddr_in6{};
  std::memcpy(&six, &x.storage, sizeof(six));
  return ntohs(six.sin6_port);
}

/// Lets no read and no write take longer than `tls_patience_s`: for the inner end, which
/// is our own. Who is outside may send a byte now and then, each in time.
void set_patience(int fd) {
  const auto limit = timeval{defaults::tls_patience_s, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

unique_fd connect_to(uint16_t port) {
  auto name = name_of("127.0.0.1", port);
  auto result = unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!result || ::connect(result.get(), name.get(), name.size) != 0)
    return {};
  set_patience(result.get());
  return result;
}

/// A connection from outside, whose socket does not block.
class outer_end {
public:
  /// @param stop Ends all waits when it is readable.
  outer_end(SSL* tls, int fd, int stop) : tls_(tls), fd_(fd), stop_(stop) {
    // nop
  }

  bool accept() {
    return finish([&] { return SSL_accept(tls_); });
  }

  bool send(std::string_view bytes) {
    return finish([&] {
      size_t written = 0;
      return SSL_write_ex(tls_, bytes.data(), bytes.size(), &written);
    });
  }

  /// @returns how many bytes came, which may be none; nothing: it is over.
  std::optional<size_t> read(char* to, size_t size) {
    size_t count = 0;
    ERR_clear_error();
    const auto result = SSL_read_ex(tls_, to, size, &count);
    if (result == 1)
      return count;
    // More is yet to come of what it has begun.
    if (SSL_get_error(tls_, result) == SSL_ERROR_WANT_READ)
      return 0;
    return std::nullopt;
  }

private:
  /// Calls `f` until it succeeds.
  /// @returns whether it has within `tls_patience_s`.
  template <class F>
  bool finish(F f) {
    const auto deadline =
      steady::now() + std::chrono::seconds{defaults::tls_patience_s};
    for (;;) {
      ERR_clear_error();
      const auto result = f();
      if (result == 1)
        return true;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - steady::now());
      const auto why = SSL_get_error(tls_, result);
      if (left.count() <= 0
          || (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE))
        return false;
      const auto wanted = why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
      pollfd fds[] = {{fd_, static_cast<short>(wanted), 0}, {stop_, POLLIN, 0}};
      const auto n =
        ::poll(fds, std::size(fds), static_cast<int>(left.count()));
      if ((n < 0 && errno != EINTR) || fds[1].revents != 0)
        return false;
    }
  }

  SSL* tls_;
  int fd_;
  int stop_;
};

/// Passes on what comes from either end until one of them ends.
/// @param stop Ends it when it is readable.
void pump(SSL* tls, int outer, int inner, int stop) {
  auto outside = outer_end{tls, outer, stop};
  auto room = std::array<char, room_size>{};
  for (;;) {
    pollfd fds[] = {{outer, POLLIN, 0}, {inner, POLLIN, 0}, {stop, POLLIN, 0}};
    // What OpenSSL has read already, no poll shows.
    const auto has_more = SSL_pending(tls) > 0;
    const auto n =
      ::poll(fds, std::size(fds), has_more ? 0 : defaults::tls_idle_s * 1000);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 || (n == 0 && !has_more) || fds[2].revents != 0)
      return;
    if (has_more || fds[0].revents != 0) {
      const auto count = outside.read(room.data(), room.size());
      if (!count || !write_all(inner, std::string_view{room.data(), *count}))
        return;
    }
    if (fds[1].revents != 0) {
      const auto count = ::recv(inner, room.data(), room.size(), 0);
      if (count <= 0
          || !outside.send({room.data(), static_cast<size_t>(count)}))
        return;
    }
  }
}

void serve(SSL_CTX* context, const unique_fd& outer, uint16_t target,
           int stop) {
  const auto tls = openssl_ptr<SSL>{SSL_new(context)};
  if (tls && SSL_set_fd(tls.get(), outer.get()) == 1
      && outer_end{tls.get(), outer.get(), stop}.accept()) {
    if (const auto inner = connect_to(target)) {
      pump(tls.get(), outer.get(), inner.get(), stop);
      SSL_shutdown(tls.get());
    }
  }
  ERR_clear_error();
}

caf::expected<openssl_ptr<SSL_CTX>> make_context(const std::string& file) {
  auto result = openssl_ptr<SSL_CTX>{SSL_CTX_new(TLS_server_method())};
  if (!result
      || SSL_CTX_set_min_proto_version(result.get(), TLS1_2_VERSION) != 1)
    return openssl_error("begin TLS");
  if (SSL_CTX_use_certificate_chain_file(result.get(), file.c_str()) != 1)
    return openssl_error("read a certificate from " + file);
  if (SSL_CTX_use_PrivateKey_file(result.get(), file.c_str(), SSL_FILETYPE_PEM)
        != 1
      || SSL_CTX_check_private_key(result.get()) != 1)
    return openssl_error("read the key of the certificate from " + file);
  return result;
}

} // namespace

tls_front::tls_front() = default;

caf::expected<std::unique_ptr<tls_front>> tls_front::start(const settings& x) {
  auto tls = make_context(x.certificate);
  if (!tls)
    return std::move(tls.error());
  auto result = std::unique_ptr<tls_front>{new tls_front};
  result->context_ = std::make_unique<context>();
  result->context_->tls = std::move(*tls);
  result->target_ = x.target;
  auto name = name_of(x.address, x.port);
  if (name.size == 0)
    return make_error(status::bad_param,
                      x.address + " is no address, such as 192.0.2.7");
  result->listener_.reset(
    ::socket(name.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  result->stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const auto fd = result->listener_.get();
  const int yes = 1;
  constexpr auto backlog = 64;
  if (fd < 0 || result->stop_.get() < 0
      || ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0
      || ::bind(fd, name.get(), name.size) != 0 || ::listen(fd, backlog) != 0
      || ::getsockname(fd, name.get(), &name.size) != 0)
    return system_error("listen on " + x.address + " port "
                        + std::to_string(x.port));
  result->port_ = port_of(name);
  result->acceptor_ =
    std::thread{[self = result.get()] { self->accept_all(); }};
  return result;
}

tls_front::~tls_front() {
  const uint64_t one = 1;
  if (stop_ && ::write(stop_.get(), &one, sizeof(one)) < 0) {
    // Its threads end when their time is up.
  }
  if (acceptor_.joinable())
    acceptor_.join();
  for (auto& x : connections_)
    x.worker.join();
}

void tls_front::forget_ended() {
  for (auto i = connections_.begin(); i != connections_.end();) {
    if (!i->has_ended) {
      ++i;
      continue;
    }
    i->worker.join();
    i = connections_.erase(i);
  }
}

void tls_front::accept_all() {
  constexpr auto look_again_ms = 1000;
  constexpr auto no_descriptor_ms = 100;
  for (;;) {
    pollfd fds[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    ::poll(fds, std::size(fds), look_again_ms);
    forget_ended();
    if (fds[1].revents != 0)
      return;
    if (fds[0].revents == 0)
      continue;
    auto outer = unique_fd{::accept4(listener_.get(), nullptr, nullptr,
                                     SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!outer) {
      ::poll(&fds[1], 1, no_descriptor_ms); // Perhaps one is free then.
      continue;
    }
    if (connections_.size() >= defaults::tls_connections)
      continue;
    auto& x = connections_.emplace_back();
    try {
      x.worker = std::thread{
        [this, &x,
         fd = std::make_shared<unique_fd>(std::move(outer))]() mutable {
          serve(context_->tls.get(), *fd, target_, stop_.get());
          fd.reset();
          x.has_ended = true;
        }};
    } catch (const std::system_error&) {
      connections_.pop_back(); // No thread can be started now.
    }
  }
}

} // namespace troupe
