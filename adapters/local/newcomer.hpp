#pragma once

#include "adapters/local/admission.hpp"
#include "adapters/local/peer_credentials.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/sockets/tcp_socket.hpp"
#include "adapters/wire/handshake.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <memory>

namespace troupe {

struct local_service;

/// A process that has said who it is, and proven it.
struct identified_peer {
  unique_fd socket;
  wire::hello greeting;
  credentials actual;

  /// The number of its end of the connection; 0: unknown.
  uint64_t inode = 0;
  admission::place place;
};

/// A connection that has not said yet who it is: it has a short while to send
/// its greeting, and nothing else, byte by byte if it likes.
/// Source: OpenPMIx wire protocol, connect; guarantees, attacks X1 to X4, X13,
/// X16 and X19.
class newcomer {
public:
  /// Called once with the peer, or with why it is refused. May destroy the
  /// newcomer.
  using callback = std::function<void(caf::expected<identified_peer>)>;

  /// Called when there is something to `read`, not again before that.
  using turn_callback = std::function<void()>;

  /// @param owner Of the other end, from the kernel.
  newcomer(local_service& service, unique_fd socket, const socket_owner& owner,
           admission::place place, callback done, turn_callback ask_turn);

  newcomer(const newcomer&) = delete;

  newcomer& operator=(const newcomer&) = delete;

  /// Whether this is a connection of user `uid` that has sent no greeting yet,
  /// nor anything that waits for its turn.
  bool is_silent(uint32_t uid) const noexcept {
    return uid_ == uid && !is_greeted_ && !waits_for_turn_;
  }

  /// Takes what has come, a bounded part of it. May destroy the newcomer.
  void read();

  /// Refuses the peer. May destroy the newcomer.
  void refuse(caf::error reason);

private:
  void on_readable();
  void on_timeout();
  void take(std::string_view bytes);
  void verify();
  void ask_munge();
  void finish(caf::expected<credentials> who);

  local_service& service_;
  identified_peer peer_;
  uint32_t uid_;
  callback done_;
  turn_callback ask_turn_;

  /// Whether it has asked for a turn and not had it.
  bool waits_for_turn_ = false;
  wire::hello_reader reader_;

  /// Whether the greeting is whole and munge is being asked.
  bool is_greeted_ = false;

  bool had_header_in_time_ = false;

  /// Tells an answer of munge that we are still here.
  std::shared_ptr<newcomer*> self_;

  fd_watch watch_;
  timer deadline_;
};

} // namespace troupe
