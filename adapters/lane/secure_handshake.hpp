#pragma once

#include "adapters/lane/lane_limits.hpp"
#include "adapters/lane/node_credentials.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/sockets/tls_transport.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

class event_loop;

/// What the ends of a connection without security tell each other first: who
/// they say they are. A line from each, whoever has dialled begins.
class plain_greeting {
public:
  /// @param way Of a connected socket; lives as long as this.
  explicit plain_greeting(transport& way) : way_(way) {
    // nop
  }

  caf::error send(const node_identity& self);

  /// Takes what has come, and not a byte more than the line.
  /// @returns who the other end says it is; nothing if more has to come.
  caf::expected<std::optional<node_identity>> receive();

private:
  transport& way_;
  std::string line_;
};

/// A connection to a node that has proven who it is.
struct secure_channel {
  std::unique_ptr<transport> way;
  node_identity peer;

  /// Whether it is under TLS, which brings nothing else than what was sent.
  bool is_secure = false;
};

/// Shakes hands on a connected socket: both sides prove who they are, then the
/// side that listens says that it lets the other in, so that both know. Until
/// then the peer gets a bounded number of bytes and a bounded time, and none of
/// its bytes leaves OpenSSL. Never blocks. For the thread of the loop only.
/// Source: guarantees 5.3; attacks X36, X38, X40, X45; limit L2.
class secure_handshake {
public:
  /// Called once with the connection, or with why there is none: `timeout`,
  /// `invalid_cred` if the peer is not who it should be, `handshake_failed`, or
  /// `lost_connection`. May destroy the handshake.
  using callback = std::function<void(caf::expected<secure_channel>)>;

  /// Decides about a node whose identity is proven: `none` to let it in.
  using gate = std::function<caf::error(const node_identity&)>;

  /// Begins the handshake of the side that has dialled.
  /// @param expected The only node to talk to.
  secure_handshake(event_loop& loop, const secure_context& context,
                   unique_fd socket, node_identity expected,
                   const lane_limits& limits, callback done);

  /// Begins the handshake of the side that listens.
  /// @param admit May be empty: every node of the DVM is let in.
  secure_handshake(event_loop& loop, const secure_context& context,
                   unique_fd socket, gate admit, const lane_limits& limits,
                   callback done);

  secure_handshake(const secure_handshake&) = delete;

  secure_handshake& operator=(const secure_handshake&) = delete;

  /// Whether the peer has not sent a single byte yet.
  bool is_silent() const noexcept {
    return channel_.way->received() == 0;
  }

  /// Ends the handshake with an error. May destroy the object.
  void refuse(caf::error reason);

private:
  /// What comes next.
  enum class step : uint8_t {
    /// TLS is being agreed.
    agree,

    /// The side that listens says that the other is let in.
    send_welcome,

    /// The side that has dialled waits for it.
    await_welcome,

    over,
  };

  secure_handshake(event_loop& loop, const secure_context& context,
                   unique_fd socket, const lane_limits& limits, callback done);

  void begin();
  void advance();

  /// Each does its step.
  /// @returns what the function of OpenSSL returned; positive if it is done.
  int agree();
  int send_welcome();
  int await_welcome();

  /// All steps without security.
  void begin_insecurely();
  void advance_insecurely();

  void after_agreement();
  void on_obstacle(int outcome);
  caf::error reason_of_failure(int code);
  void finish();

  lane_limits limits_;
  secure_channel channel_;

  /// Of the channel; null without security.
  SSL* tls_ = nullptr;
  callback done_;
  gate admit_;
  bool is_dialling_ = false;
  step step_ = step::agree;

  /// Without security: who we are, and what is said instead.
  std::optional<node_identity> insecure_self_;
  std::optional<plain_greeting> greeting_;

  /// Bytes of the welcome that have come in.
  size_t welcomed_ = 0;

  peer_check check_;
  fd_watch watch_;
  timer deadline_;

  /// Ends outside of what the owner is doing.
  timer begin_;
};

} // namespace troupe
