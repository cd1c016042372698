#include "adapters/local/newcomer.hpp"

#include "adapters/local/local_service.hpp"
#include "adapters/local/security_policy.hpp"
#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <sys/socket.h>

#include <array>
#include <string>
#include <utility>

namespace troupe {

namespace {

/// Bytes to take in one pass of the loop; a greeting is a few hundred.
constexpr size_t chunk_size = 4096;

caf::error protocol_error(const std::string& what) {
  return make_error(status::handshake_failed, what);
}

std::string in_ms(std::chrono::milliseconds x) {
  return std::to_string(x.count()) + " ms";
}

} // namespace

newcomer::newcomer(local_service& service, unique_fd socket,
                   const socket_owner& owner, admission::place place,
                   callback done, turn_callback ask_turn)
  : service_(service), uid_(owner.uid), done_(std::move(done)),
    ask_turn_(std::move(ask_turn)),
    watch_(service.loop, socket.get(), [this] { on_readable(); }),
    deadline_(service.loop, [this] { on_timeout(); }) {
  peer_.socket = std::move(socket);
  peer_.place = std::move(place);
  peer_.inode = owner.inode;
  watch_.enable_read();
  deadline_.start(service_.options.limits.header_time);
}

void newcomer::on_readable() {
  watch_.disable_read();
  waits_for_turn_ = true;
  ask_turn_();
}

void newcomer::read() {
  waits_for_turn_ = false;
  watch_.enable_read();
  std::array<char, chunk_size> chunk;
  const auto got =
    ::recv(peer_.socket.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got > 0)
    take({chunk.data(), static_cast<size_t>(got)});
  else if (got == 0)
    refuse(protocol_error("closed before it was served"));
  else if (errno != EAGAIN && errno != EINTR)
    refuse(system_error("read"));
}

void newcomer::on_timeout() {
  const auto& limits = service_.options.limits;
  if (waits_for_turn_) {
    deadline_.start(limits.header_time); // It has spoken; it is we who wait.
    return;
  }
  if (!reader_.has_header() && !is_greeted_) {
    refuse(make_error(status::timeout, "sent no header within "
                                         + in_ms(limits.header_time)
                                         + " (L2)"));
    return;
  }
  const auto rest = limits.greeting_time - limits.header_time;
  if (std::exchange(had_header_in_time_, true) || rest.count() <= 0) {
    refuse(make_error(status::timeout, "was not identified within "
                                         + in_ms(limits.greeting_time)
                                         + " (L2)"));
    return;
  }
  deadline_.start(rest);
}

void newcomer::take(std::string_view bytes) {
  if (is_greeted_) {
    refuse(protocol_error("sent requests before it was served"));
    return;
  }
  auto greeting = reader_.push(bytes);
  if (!greeting) {
    refuse(std::move(greeting.error()));
    return;
  }
  if (!*greeting)
    return;
  if (!reader_.take_rest().empty()) {
    refuse(protocol_error("sent requests before it was served"));
    return;
  }
  is_greeted_ = true;
  peer_.greeting = std::move(**greeting);
  verify();
}

void newcomer::verify() {
  const auto& policy = service_.options.security;
  if (auto err = check_mechanism(policy, peer_.greeting))
    refuse(std::move(err));
  else if (policy.mechanism == security_mechanism::munge)
    ask_munge();
  else
    finish(confirm_native(peer_.greeting, uid_));
}

void newcomer::ask_munge() {
  self_ = std::make_shared<newcomer*>(this);
  const auto accepted = decode_munge(
    service_.pool, service_.options.security.munge_socket,
    peer_.greeting.credential,
    [alive = std::weak_ptr<newcomer*>{self_}](caf::expected<credentials> who) {
      const auto self = alive.lock();
      if (!self)
        return; // The peer has gone, or its time was over.
      auto& x = **self;
      if (who)
        x.finish(confirm_munge(x.peer_.greeting, *who, x.uid_));
      else
        x.refuse(std::move(who.error()));
    });
  if (!accepted)
    refuse(make_error(status::out_of_resource,
                      "too many credentials wait for munge"));
}

void newcomer::finish(caf::expected<credentials> who) {
  if (!who) {
    refuse(std::move(who.error()));
    return;
  }
  watch_.disable_read();
  deadline_.cancel();
  peer_.actual = *who;
  const auto done = std::move(done_); // May destroy us.
  done(std::move(peer_));
}

void newcomer::refuse(caf::error reason) {
  watch_.disable_read();
  deadline_.cancel();
  const auto done = std::move(done_); // May destroy us.
  done(std::move(reason));
}

} // namespace troupe
