#pragma once

#include "actors/mesh/sessions/lane_table.hpp"
#include "actors/mesh/sessions/session_handshake.hpp"
#include "actors/mesh/sessions/windows.hpp"
#include "config/defaults.hpp"
#include "messages/peer_frames.hpp"
#include "messages/status.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// Bytes of one class on their way at a time: what may lie before a control
/// message, and what is sent again when a lane fails. Membership and control
/// have a reserve that bulk cannot take.
inline constexpr size_t bulk_in_flight = size_t{256} << 10;
inline constexpr size_t reserve_in_flight = size_t{64} << 10;

/// Round trips that differ by less are no reason to use another lane than the
/// peer does.
inline constexpr auto lane_similar = 1ms;

/// An acknowledgement waits for company as long, or for as many bytes.
inline constexpr auto acknowledgement_delay = 5ms;
inline constexpr size_t acknowledgement_bytes = size_t{32} << 10;

} // namespace defaults

/// Limits and times of a session. All nodes of a DVM have the same.
struct peer_options {
  /// Largest payload: a frame less what comes with it.
  size_t message_bytes = defaults::lane_frame - 4096;

  /// @pre at least `cost_of(message_bytes)`
  size_t window = defaults::send_window;

  size_t bulk_in_flight = defaults::bulk_in_flight;
  size_t reserve_in_flight = defaults::reserve_in_flight;
  steady_duration probe = defaults::lane_probe;
  steady_duration probe_idle = defaults::lane_probe_idle;
  steady_duration probe_standby = defaults::lane_probe_standby;
  steady_duration silence = defaults::lane_silence;

  /// Round trips of two lanes that differ by less, or by half, are alike.
  steady_duration similar = defaults::lane_similar;
  steady_duration suspicion = defaults::peer_suspicion;
  steady_duration grace = defaults::peer_grace;

  /// Silence after which the session ends; `grace` if not said. Longer where
  /// somebody else decides who is lost.
  std::optional<steady_duration> patience;

  steady_duration acknowledgement_delay = defaults::acknowledgement_delay;
  size_t acknowledgement_bytes = defaults::acknowledgement_bytes;
  steady_duration own_lateness = defaults::own_lateness;

  /// Whether a message counts as taken once it is delivered. If not, the owner
  /// calls `taken`, and the peer waits when much is not.
  bool taken_on_delivery = true;
};

/// Put `frame` on `lane`.
struct put_frame {
  lane_id lane = 0;
  lane_frame frame;
};

/// A message of the peer, in its turn.
struct deliver_message {
  traffic_class of = traffic_class::membership;
  uint64_t number = 0;
  peer_payload payload;

  /// For `taken`.
  uint64_t session = 0;

  /// Whether it came over a lane of the node itself.
  bool is_direct = false;
};

/// A message has arrived (`success`) or will not be sent any more; then nobody
/// knows whether it has arrived.
struct complete_send {
  uint64_t ticket = 0;
  status outcome = status::success;
};

/// A class that refused a message for want of room has room again.
struct offer_credit {
  traffic_class of = traffic_class::membership;
};

/// Close the connection; the session has forgotten it.
struct close_lane {
  lane_id lane = 0;

  /// For the log.
  const char* reason = "";
};

/// Something to know about the peer.
struct report_peer {
  enum class change : uint8_t {
    /// A session has begun, or begun anew: deliveries start at 1.
    begun,
    /// The session has ended since the peer has begun another.
    ended,
    /// Silent on all lanes; others should look.
    suspected,
    /// Heard again in time; the session goes on.
    heard,
    /// Silent for longer than the grace, or never reached: the session has
    /// ended. Comes once, until another session begins.
    lost,
  };

  change what = change::begun;
  incarnation peer;
};

/// What the owner of a session has to do, in this order.
using peer_effect = std::variant<put_frame, deliver_message, complete_send,
                                 offer_credit, close_lane, report_peer>;
using peer_effects = std::vector<peer_effect>;

/// What a session has done so far; for gauges.
struct peer_counters {
  uint64_t sent = 0;
  uint64_t resent = 0;
  uint64_t resent_bytes = 0;
  uint64_t delivered = 0;
  uint64_t duplicates = 0;
  uint64_t dropped = 0;
  uint64_t acknowledgements = 0;
  uint64_t probes = 0;
  uint64_t answers = 0;
  uint64_t hellos = 0;

  /// Lanes that the peer has said it lost.
  uint64_t told_gone = 0;

  /// How often a class was sent again from where the peer was.
  uint64_t rewinds = 0;

  /// How often classes have left a lane that had ended or fallen silent for
  /// another one; those that leave it together count once.
  uint64_t failovers = 0;
};

/// Exactly-once, ordered messages to another node over lanes that come and go.
///
/// Per class of traffic, messages are numbered, kept until the peer has them,
/// and delivered in order. A class rides the usable lane with the lowest round
/// trip, of the kind that is preferred; when that lane ends or falls silent, it moves, and what is not
/// acknowledged is sent again. A side that loses a lane tells the other one
/// over another lane, since often only one is told by its kernel. A lane keeps
/// the order of its frames but may lose any: the answer to a probe tells what
/// was lost before it.
///
/// It makes no call of the system and has no clock: the owner tells it the
/// time, carries out the effects, and calls `on_tick` at `next_deadline`.
/// Source: guarantees 5.3, invariants LINK-1 to LINK-7.
class peer_session {
public:
  /// @param self This node.
  /// @param peer The other node; a boot of 0 stands for any.
  /// @param make_token Gives 16 random bytes that nobody can guess.
  /// @param first_number See `session_handshake`.
  peer_session(incarnation self, incarnation peer, peer_options options,
               session_handshake::token_source make_token, steady_time now,
               uint64_t first_number = 1);

  // -- the owner's side -------------------------------------------------------

  /// Takes a message for the peer, also before there is a lane.
  /// @param ticket Comes back in its `complete_send`.
  /// @returns `success` if it was taken and its completion will follow; else it
  ///          ends here: `bad_param` for one that is too long,
  ///          `out_of_resource` if the window is full (`offer_credit` will
  ///          follow), `unreach` if the peer is lost.
  status send(traffic_class of, uint64_t ticket, peer_payload payload,
              steady_time now, peer_effects& out);

  /// The owner is done with a delivered message.
  void taken(const deliver_message& message, steady_time now,
             peer_effects& out);

  /// Ends the session: whoever decides about members says that the peer is
  /// lost, or we leave. Each message completes with `why`.
  void give_up(status why, steady_time now, peer_effects& out);

  // -- the network's side -----------------------------------------------------

  /// @param lane A number that no connection to this peer has had before.
  /// @param tier See `lane_state::tier`; both ends are to say the same.
  void on_lane_up(lane_id lane, steady_time now, peer_effects& out,
                  uint8_t tier = 0);

  void on_lane_down(lane_id lane, steady_time now, peer_effects& out);

  void on_frame(lane_id lane, lane_frame frame, steady_time now,
                peer_effects& out);

  void on_tick(steady_time now, peer_effects& out);

  steady_time next_deadline() const {
    return deadline_;
  }

  // -- gauges -----------------------------------------------------------------

  /// Bytes that wait for an acknowledgement.
  size_t unacknowledged_bytes(traffic_class of) const {
    return sending_[index_of(of)].bytes();
  }

  /// Bytes that came early or were not taken.
  size_t held_bytes(traffic_class of) const {
    const auto& x = receiving_[index_of(of)];
    return x.early_bytes() + x.untaken_bytes();
  }

  /// Whether a lane is usable.
  bool is_connected() const {
    return lanes_.best() != nullptr;
  }

  const session_handshake& names() const {
    return names_;
  }

  const lane_table& lanes() const {
    return lanes_;
  }

  const peer_counters& counters() const {
    return counters_;
  }

private:
  // -- every call -------------------------------------------------------------

  /// Excuses the peer for what we were late ourselves.
  void begin(steady_time now);

  /// Moves classes, sends what may be sent, computes the deadline.
  void settle(steady_time now, peer_effects& out);

  // -- frames ---------------------------------------------------------------

  void handle(lane_state& lane, hello_frame& x, steady_time now,
              peer_effects& out);
  void handle(lane_state& lane, data_frame& x, steady_time now,
              peer_effects& out);
  void handle(lane_state& lane, ack_frame& x, steady_time now,
              peer_effects& out);
  void handle(lane_state& lane, probe_frame& x, steady_time now,
              peer_effects& out);
  void handle(lane_state& lane, gone_frame& x, steady_time now,
              peer_effects& out);

  /// Whether a frame belongs to this session; else it is dropped.
  bool belongs(const lane_state& lane, uint64_t session);

  /// Learns what has arrived at the peer.
  /// @returns whether the lane is still there: it is closed if the peer
  ///          acknowledges what was not sent.
  bool learn(lane_state& lane, const acknowledgement& received, steady_time now,
             peer_effects& out);

  /// Messages of a class have arrived, as the peer says on `lane`.
  void note_progress(const lane_state& lane, size_t index, steady_time now,
                     peer_effects& out);

  void refuse(lane_id lane, const char* reason, steady_time now,
              peer_effects& out);

  /// A lane is no more.
  void forget(lane_id lane, steady_time now);

  /// Notes that the peer has to hear of a lane that is no more.
  void note_gone(lane_id lane, steady_time now);

  /// Tells the peer of lanes that it may still send into.
  void tell_gone(steady_time now, peer_effects& out);

  void deliver(traffic_class of, receive_window::message& x, peer_effects& out);
  void say_hello(lane_state& lane, peer_effects& out);
  void say_hello_everywhere(peer_effects& out);

  /// Completes all messages with `why` and starts anew.
  void end_session(status why, steady_time now, peer_effects& out);

  // -- sending --------------------------------------------------------------

  /// The lane that idle classes should ride. The higher of the two nodes
  /// follows the other one if that costs little: on one connection the messages
  /// of both directions acknowledge each other.
  const lane_state* wanted_lane() const;

  void assign_lanes();
  void transmit(steady_time now, peer_effects& out);
  void rewind(size_t index);
  size_t flight_of(size_t index) const;
  bool is_waiting(const lane_state& lane) const;

  /// Whether a class rides it.
  bool is_in_use(const lane_state& lane) const;

  void offer_credits(peer_effects& out);

  /// An acknowledgement of these classes.
  acknowledgement received(uint8_t classes) const;

  /// The one that is due, which is then told.
  acknowledgement due_acknowledgement();

  /// Asks for an acknowledgement by `at` at the latest.
  void owe(size_t index, steady_time at);

  /// What was acknowledged on a lane that failed may not have arrived.
  void acknowledge_again(steady_time now);

  void acknowledge(steady_time now, peer_effects& out);

  // -- time -----------------------------------------------------------------

  steady_time probe_due(const lane_state& lane) const;

  /// When lanes in stand-by are asked, since one in use does not answer.
  steady_time doubt_at() const;

  /// How long a lane in use may rest: a little longer than who asks over it
  /// every `probe_idle`, so that nobody asks twice.
  steady_duration idle_time() const {
    return options_.probe_idle + options_.probe;
  }

  steady_time close_due(const lane_state& lane) const;
  void probe(lane_state& lane, steady_time now, peer_effects& out);
  void watch_lanes(steady_time now, peer_effects& out);
  void watch_peer(steady_time now, peer_effects& out);
  void note_contact(steady_time now, peer_effects& out);
  void declare_lost(steady_time now, peer_effects& out);
  steady_time compute_deadline() const;

  peer_options options_;
  session_handshake names_;
  lane_table lanes_;
  peer_counters counters_;

  per_class<send_window> sending_;
  per_class<receive_window> receiving_;

  /// The lane that each class rides, also if it has ended since.
  per_class<std::optional<lane_id>> riding_{};

  /// Counts moves and rewinds of a class, so that old probes are not believed.
  per_class<uint64_t> rounds_{};

  /// Who was refused for want of room.
  per_class<bool> wants_credit_{};

  /// What is to be acknowledged: which classes, by when, where it came from,
  /// and how much since the last time.
  uint8_t owed_ = 0;
  std::optional<steady_time> owed_at_;
  lane_id owed_lane_ = 0;
  size_t owed_bytes_ = 0;
  per_class<uint64_t> told_limit_{};

  uint64_t last_probe_ = 0;

  /// Lanes that were lost a short while ago, and when.
  struct gone_lane {
    lane_id id = 0;
    steady_time at;
  };

  std::deque<gone_lane> gone_;

  /// When the peer last showed that it hears us, on any lane.
  steady_time contact_at_;
  bool is_suspected_ = false;
  bool is_lost_ = false;

  steady_time deadline_;
};

} // namespace troupe
