#pragma once

#include "messages/peer_frames.hpp"

#include <functional>

namespace troupe {

/// Agrees with the peer on a session: which of its own names meets which of the
/// peer's. Both say `hello` on every connection, and again whenever they have
/// learned something; a pair of names counts once each side has heard its own
/// name from the other.
///
/// Who has no session takes on the peer's newest name and keeps its own; who
/// has one ends it when the peer shows a newer name. So an end on one side ends
/// the session once on the other, and both never chase each other.
/// Source: guarantees 5.3, LINK-4.
class session_handshake {
public:
  /// What a hello means.
  struct outcome {
    /// If not null: why the connection that brought it is of no use.
    const char* refusal = nullptr;

    /// The session, or the wait for this incarnation of the peer, is over. The
    /// caller ends it and then calls `renew`.
    bool is_over = false;

    /// The pair of names counts, and this connection may carry its frames.
    bool is_agreed = false;
  };

  using token_source = std::function<session_token()>;

  /// @param self Who we are.
  /// @param peer Whom we expect; a boot of 0 stands for any.
  /// @param make_token Gives random bytes.
  /// @param first_number Of our own name; larger than that of any session that
  ///                     this incarnation has had with any start of that node.
  session_handshake(incarnation self, incarnation peer, token_source make_token,
                    uint64_t first_number = 1);

  /// Learns from a hello of the peer.
  outcome hear(const session_name& sender, const session_name& receiver);

  /// Takes another name: the session has ended.
  void renew();

  const session_name& own() const {
    return own_;
  }

  /// The newest name that the peer has shown.
  const session_name& peer() const {
    return peer_;
  }

  /// Whether there is a session.
  bool is_agreed() const {
    return is_agreed_;
  }

  /// What frames of this session carry, by direction.
  uint64_t outgoing() const;
  uint64_t incoming() const;

private:
  session_name own_;
  session_name peer_;
  bool is_agreed_ = false;
  token_source make_token_;
};

} // namespace troupe
