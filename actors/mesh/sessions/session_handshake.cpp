#include "actors/mesh/sessions/session_handshake.hpp"

namespace troupe {

namespace {

uint64_t fold(const session_token& token) {
  uint64_t result = 0;
  for (size_t i = 0; i < token.size(); ++i)
    result ^= uint64_t{token[i]} << (8 * (i % 8));
  return result;
}

/// Differs by direction, so that no frame is taken from a mirror.
uint64_t mark_of(const session_token& sender, const session_token& receiver) {
  return fold(sender) * 0x9e3779b97f4a7c15 + fold(receiver);
}

} // namespace

session_handshake::session_handshake(incarnation self, incarnation peer,
                                     token_source make_token,
                                     uint64_t first_number)
  : own_{self, first_number, make_token()}, peer_{peer, 0, {}},
    make_token_{std::move(make_token)} {
  // nop
}

session_handshake::outcome
session_handshake::hear(const session_name& sender,
                        const session_name& receiver) {
  outcome result;
  const auto refuse = [&](const char* why) {
    result.refusal = why;
    return result;
  };
  if (sender.of.node != peer_.of.node || receiver.of.node != own_.of.node)
    return refuse("hello is from or for another node");
  if (sender.of.boot == 0 || sender.number == 0)
    return refuse("hello does not name its sender");
  if (sender.of.boot < peer_.of.boot)
    return refuse("hello is from an earlier start of the peer");
  if (is_older(own_, receiver))
    return refuse("hello is for a later start or session");
  if (receiver.of.boot != 0 && receiver.of.boot < own_.of.boot)
    return result; // It means a former start of ours; our hello tells it so.
  if (is_older(sender, peer_))
    return result; // The peer has moved on; its newer name is on its way.
  if (is_older(peer_, sender)) {
    const auto is_restart =
      peer_.of.boot != 0 && sender.of.boot != peer_.of.boot;
    result.is_over = is_agreed_ || is_restart;
    peer_ = sender;
  } else if (sender != peer_) {
    return refuse("hello has another token");
  }
  // With `is_over`, our own name is about to change: it cannot have met.
  if (!result.is_over && receiver == own_)
    result.is_agreed = is_agreed_ = true;
  return result;
}

void session_handshake::renew() {
  own_ = {own_.of, own_.number + 1, make_token_()};
  is_agreed_ = false;
}

uint64_t session_handshake::outgoing() const {
  return mark_of(own_.token, peer_.token);
}

uint64_t session_handshake::incoming() const {
  return mark_of(peer_.token, own_.token);
}

} // namespace troupe
