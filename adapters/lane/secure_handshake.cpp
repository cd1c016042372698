#include "adapters/lane/secure_handshake.hpp"

#include "adapters/sockets/socket_kind.hpp"
#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace troupe {

// -- without security --------------------------------------------------------

namespace {

constexpr std::string_view prefix = "troupe-plain-1 ";

/// The longest identity, and what is around it.
constexpr size_t line_max = 400;

} // namespace

caf::error plain_greeting::send(const node_identity& self) {
  auto line = std::string{prefix};
  line += to_string(self);
  line += '\n';
  size_t done = 0;
  // The socket is new: it has room.
  way_.write(line.data(), line.size(), done);
  if (done != line.size())
    return system_error("send who we are", way_.error_number());
  return caf::none;
}

caf::expected<std::optional<node_identity>> plain_greeting::receive() {
  for (;;) {
    char c = 0;
    size_t got = 0;
    const auto outcome = way_.read(&c, 1, got);
    if (got == 0) {
      if (outcome == transport::outcome::no_input)
        return std::optional<node_identity>{};
      return make_error(status::lost_connection,
                        "closed before it said who it is");
    }
    if (c == '\n')
      break;
    line_ += c;
    if (line_.size() > line_max
        || prefix.substr(0, line_.size())
             != std::string_view{line_}.substr(0, prefix.size()))
      return make_error(status::handshake_failed, "speaks another protocol");
  }
  auto result = parse_node_identity(
    std::string_view{line_}.substr(std::min(prefix.size(), line_.size())));
  if (!result)
    return std::move(result.error());
  return std::optional<node_identity>{std::move(*result)};
}

// -- handshake ---------------------------------------------------------------

namespace {

/// What the side that listens sends first: it has let the other in, and this is
/// what they will talk.
constexpr std::string_view welcome = "troupe-lane-1\n";

} // namespace

secure_handshake::secure_handshake(event_loop& loop,
                                   const secure_context& context,
                                   unique_fd socket, const lane_limits& limits,
                                   callback done)
  : limits_(limits), done_(std::move(done)),
    watch_(
      loop, socket.get(), [this] { advance(); }, [this] { advance(); }),
    deadline_(loop,
              [this] {
                refuse(
                  make_error(status::timeout,
                             "did not prove who it is within "
                               + std::to_string(limits_.handshake_time.count())
                               + " ms (L2)"));
              }),
    begin_(loop, [this] { begin(); }) {
  if (context.is_insecure()) {
    insecure_self_ = context.self();
    channel_.way = std::make_unique<transport>(std::move(socket), "lane");
  } else {
    auto way = std::make_unique<tls_transport>(std::move(socket),
                                               context.new_connection());
    tls_ = way->tls();
    channel_.way = std::move(way);
  }
  channel_.way->set_allowance(limits_.handshake_bytes);
  check_.dvm = context.self().dvm;
  deadline_.start(limits_.handshake_time);
  begin_.start(std::chrono::nanoseconds::zero());
}

secure_handshake::secure_handshake(event_loop& loop,
                                   const secure_context& context,
                                   unique_fd socket, node_identity expected,
                                   const lane_limits& limits, callback done)
  : secure_handshake(loop, context, std::move(socket), limits,
                     std::move(done)) {
  check_.expected = std::move(expected);
  is_dialling_ = true;
}

secure_handshake::secure_handshake(event_loop& loop,
                                   const secure_context& context,
                                   unique_fd socket, gate admit,
                                   const lane_limits& limits, callback done)
  : secure_handshake(loop, context, std::move(socket), limits,
                     std::move(done)) {
  admit_ = std::move(admit);
}

void secure_handshake::begin() {
  if (insecure_self_) {
    begin_insecurely();
    return;
  }
  if (tls_ == nullptr) {
    refuse(make_error(status::nomem, "no memory for TLS"));
    return;
  }
  set_peer_check(tls_, &check_);
  if (is_dialling_)
    SSL_set_connect_state(tls_);
  else
    SSL_set_accept_state(tls_);
  watch_.enable_read();
  advance();
}

void secure_handshake::advance() {
  channel_.way->look_again();
  if (greeting_) {
    advance_insecurely();
    return;
  }
  while (step_ != step::over) {
    ERR_clear_error();
    const auto before = step_;
    const auto outcome = before == step::agree          ? agree()
                         : before == step::send_welcome ? send_welcome()
                                                        : await_welcome();
    if (outcome <= 0) {
      on_obstacle(outcome);
      return;
    }
    if (before == step::agree) {
      after_agreement();
    } else if (before == step::send_welcome || welcomed_ == welcome.size()) {
      finish();
      return;
    }
  }
}

void secure_handshake::begin_insecurely() {
  const auto fd = channel_.way->fd();
  if (!socket_kind_of(fd).stays_here(fd)) {
    refuse(make_error(
      status::no_permissions,
      "without security only loopback is allowed; leave out --insecure"));
    return;
  }
  greeting_.emplace(*channel_.way);
  watch_.enable_read();
  if (is_dialling_)
    if (auto err = greeting_->send(*insecure_self_)) {
      refuse(std::move(err));
      return;
    }
  advance_insecurely();
}

void secure_handshake::advance_insecurely() {
  if (step_ == step::over)
    return;
  auto found = greeting_->receive();
  if (!found) {
    refuse(std::move(found.error()));
    return;
  }
  if (!*found)
    return;
  check_.found = std::move(**found);
  if (check_.found->dvm != check_.dvm
      || (check_.expected && *check_.expected != *check_.found)) {
    refuse(make_error(status::invalid_cred,
                      "says that it is " + to_string(*check_.found)));
    return;
  }
  auto err = admit_ ? admit_(*check_.found) : caf::error{};
  if (!err && !is_dialling_)
    err = greeting_->send(*insecure_self_);
  if (err)
    refuse(std::move(err));
  else
    finish();
}

int secure_handshake::agree() {
  return SSL_do_handshake(tls_);
}

int secure_handshake::send_welcome() {
  return SSL_write(tls_, welcome.data(), static_cast<int>(welcome.size()));
}

int secure_handshake::await_welcome() {
  std::array<char, welcome.size()> chunk;
  const auto got =
    SSL_read(tls_, chunk.data(), static_cast<int>(welcome.size() - welcomed_));
  if (got <= 0)
    return got;
  const auto size = static_cast<size_t>(got);
  if (welcome.substr(welcomed_, size) != std::string_view{chunk.data(), size}) {
    check_.refusal = "speaks another protocol";
    return 0;
  }
  welcomed_ += size;
  return got;
}

void secure_handshake::after_agreement() {
  // OpenSSL has looked at all of this already; it costs nothing to be sure.
  if (!check_.found || SSL_get_verify_result(tls_) != X509_V_OK) {
    refuse(make_error(status::invalid_cred, "has not proven who it is"));
    return;
  }
  if (is_dialling_) {
    step_ = step::await_welcome;
    return;
  }
  if (auto err = admit_ ? admit_(*check_.found) : caf::error{}) {
    SSL_shutdown(tls_);
    refuse(std::move(err));
    return;
  }
  step_ = step::send_welcome;
}

/// Waits for the socket, or gives up.
void secure_handshake::on_obstacle(int outcome) {
  const auto code = SSL_get_error(tls_, outcome);
  const auto can_go_on =
    check_.refusal.empty()
    && (code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE);
  if (!can_go_on) {
    refuse(reason_of_failure(code));
    return;
  }
  if (channel_.way->allowance() == 0) {
    refuse(make_error(status::handshake_failed,
                      "sent more than "
                        + std::to_string(limits_.handshake_bytes)
                        + " bytes before it proved who it is (L2)"));
    return;
  }
  if (code == SSL_ERROR_WANT_WRITE) {
    // What comes in meanwhile waits, or the loop would spin on it.
    watch_.disable_read();
    watch_.enable_write();
  } else {
    watch_.disable_write();
    watch_.enable_read();
  }
}

caf::error secure_handshake::reason_of_failure(int code) {
  const auto reason = take_openssl_error();
  if (!check_.refusal.empty())
    return make_error(status::invalid_cred, check_.refusal);
  if (const auto failure = channel_.way->error_number(); failure != 0)
    return system_error("handshake", failure);
  if (code == SSL_ERROR_ZERO_RETURN)
    return make_error(status::no_permissions, "does not let us in");
  if (channel_.way->is_closed())
    return make_error(status::lost_connection,
                      "closed in the middle of the handshake");
  return make_error(status::handshake_failed, reason);
}

void secure_handshake::finish() {
  step_ = step::over;
  watch_.disable_read();
  watch_.disable_write();
  deadline_.cancel();
  channel_.peer = std::move(*check_.found);
  if (tls_ != nullptr) {
    channel_.is_secure = true;
    set_peer_check(tls_, nullptr);
  }
  const auto done = std::move(done_); // May destroy us.
  done(std::move(channel_));
}

void secure_handshake::refuse(caf::error reason) {
  if (step_ == step::over)
    return;
  step_ = step::over;
  watch_.disable_read();
  watch_.disable_write();
  begin_.cancel();
  deadline_.cancel();
  const auto done = std::move(done_); // May destroy us.
  done(std::move(reason));
}

} // namespace troupe
