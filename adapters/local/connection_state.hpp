#pragma once

// The inside of a CONNECTION actor, for its own source files.

#include "actors/answer.hpp"
#include "actors/watches.hpp"
#include "adapters/local/frame_socket.hpp"
#include "adapters/local/local_service.hpp"
#include "adapters/local/newcomer.hpp"
#include "adapters/loop/loop_event.hpp"
#include "adapters/wire/dialect.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace troupe {

/// Output for the peer, and who waits until its socket has taken it.
struct waiting_output {
  io_delivery what;
  answer<ack> owed;
};

/// The same once it has been written to the place where frames are.
struct sent_output {
  uint64_t end = 0;
  answer<ack> owed;
};

struct connection_state {
  static inline const char* name = "connection";

  enum class phase : uint8_t {
    /// The server has not decided.
    waiting,

    /// The peer went before the server decided.
    abandoned,

    /// Requests go to the session.
    serving,

    /// What is queued is being sent, nothing else happens.
    closing,

    /// The socket is closed.
    gone,
  };

  phase now = phase::waiting;
  std::shared_ptr<local_service> service;
  std::optional<frame_socket> socket;
  wire::dialect dialect;
  admission::place place;

  /// What has come of a message that is not whole; absent until it is served.
  std::optional<unfinished_messages::message> unfinished;

  /// The number of the peer's socket; 0: unknown.
  uint64_t inode = 0;

  /// Who the peer is, for the log.
  std::string peer;

  /// Who it is to the server, once it is served.
  proc_id proc;

  /// Whose lines in the log are counted together.
  std::string source;

  /// The server, which outlives us, and the session.
  watches watched;

  /// Takes the peer's requests; from the server.
  client_actor session;

  /// Tags of the requests that have not been answered.
  std::set<uint32_t> in_flight;

  /// Whether one more is being read on a thread; what comes after it waits.
  bool is_decoding = false;

  /// Of these the notifications, with their bytes.
  std::map<uint32_t, size_t> notifies;
  size_t notify_bytes = 0;

  /// Input that it has pushed, likewise, and whether it has been told to stop.
  std::map<uint32_t, size_t> pushes;
  size_t push_bytes = 0;
  bool is_input_stopped = false;

  /// Where in the bytes of the socket the events end that the kernel has not
  /// taken, how many it has taken, and how many of them the session knows of.
  std::deque<uint64_t> event_ends;
  uint64_t events_taken = 0;
  uint64_t events_told = 0;

  /// Output that waits until the kernel has room, and its bytes: events and
  /// answers go past it.
  std::deque<waiting_output> outputs;
  size_t output_bytes = 0;

  /// Whether the peer says how much output its program has taken; then no more
  /// than a window of it is on its way. In bytes of payload, since the start.
  bool counts_output = false;
  uint64_t output_written = 0;
  uint64_t output_consumed = 0;

  /// Output that is being sent: where in the bytes of the socket it ends.
  std::deque<sent_output> outputs_sent;

  /// Sends what waits for more when all actors have had their turn.
  std::optional<loop_event> end_of_turn;

  /// Whether the peer has asked to leave.
  bool finalized = false;

  /// Where frames are written before they are sent.
  std::string out;

  std::function<void()> on_gone;

  /// Tells who comes back from another thread that we are still here.
  std::shared_ptr<int> alive = std::make_shared<int>();
};

using connection_ptr = connection_actor::stateful_pointer<connection_state>;

/// Takes a frame of the peer.
void on_frame(connection_ptr self, const wire::frame& x);

/// Sends what has been written to `state.out`: now, or in one piece with what
/// the next messages in the mailbox write. Takes requests or not according to
/// how much the peer leaves unread and unanswered.
void flush(connection_ptr self);

/// The same, but not before the end of the turn.
void flush_later(connection_ptr self);

/// Sends it now.
void send_held(connection_ptr self);

/// Takes requests, unless too many are unanswered or too much is unread.
void update_reading(connection_ptr self);

/// A request is answered.
void close_request(connection_state& state, uint32_t tag);

/// Finds out which events and which output the kernel has taken, and tells the
/// session and who waits for it.
void note_taken(connection_ptr self);

/// Takes output for the peer. @returns when the kernel has taken it, or
/// `lost_connection`.
caf::result<ack> push_output(connection_ptr self, io_delivery x);

/// The peer's program has taken output.
void on_output_credit(connection_ptr self, const wire::frame& x);

/// Tells a peer of ours how much output may be on its way.
void grant_output_credit(connection_ptr self);

/// Tells the peer to push no more input for now, or to go on, if it knows such
/// messages.
void control_input(connection_ptr self);

/// Sends as much output as there is room for.
void write_outputs(connection_ptr self);

/// Tells who waits that output is lost which has not been written, or all that
/// the kernel has not taken.
void forget_waiting_outputs(connection_ptr self);
void forget_outputs(connection_ptr self);

/// Logs why the peer cannot be served any more, and closes.
void drop(connection_ptr self, const std::string& why);

/// The same for a peer that broke a rule.
void punish(connection_ptr self, const std::string& why);

/// Closes the socket and ends the actor, now or as soon as the server has
/// decided.
void leave(connection_ptr self);

} // namespace troupe
