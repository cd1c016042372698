#pragma once

#include "actors/mesh/exchange/defaults.hpp"
#include "messages/mesh.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace troupe {

/// The class of traffic that a question, and its answer, belong to.
traffic_class class_of(const host_question& what);

/// The calls between the host of this node and those of the others: what is
/// asked of a member is carried out there at most once, in the order in which
/// its class was sent, and completes here exactly once. A call to this node is
/// carried out at once and sends nothing.
///
/// Each call names the call of its class before it, so that one that was lost
/// on its way holds up those behind it until it has been sent again; calls
/// without an answer are sent again when routes have changed. Who has carried
/// out a call remembers its answer until the caller says that it has it.
///
/// That parts and outcomes of collectives and entries of the logs of groups
/// have been carried out is said along with the next call or answer to the same
/// member: nobody waits for it.
///
/// A plain class: what it wants done are calls of `effects`. These may come
/// before `call` or `take` return; they may call back in.
/// Source: guarantees 5.8, CTL-1, CTL-2, P-K1, P-M1.
class mesh_calls {
public:
  /// Since any point that stays the same.
  using time = std::chrono::nanoseconds;

  /// One life of a member's daemon.
  struct member {
    uint32_t rank = 0;
    uint64_t incarnation = 0;
  };

  /// Gets the answer, or why there is none: what the member refused with;
  /// `unreach` if it is lost, `timeout`, or `out_of_resource`.
  using completion = std::function<void(caf::expected<host_reply>)>;

  /// Answers a question of a member, once. If all copies go unused, the member
  /// is told `unreach`.
  using answerer = std::function<void(host_reply)>;

  struct effects {
    std::function<time()> now;

    /// Gives a message to the NODE actor.
    std::function<void(send_to_member)> send;

    /// Carries out a question of a member, or of this node.
    std::function<void(const member&, host_question&, const answerer&)> execute;
  };

  struct limits {
    /// Calls to one member without an answer; more are refused.
    size_t open = 16384;

    /// Answers that are remembered for one member, and calls of it that came
    /// before their turn. The oldest answer goes; asked for again, it is
    /// reported as unknown (`unreach`), and nothing is carried out twice.
    size_t remembered = 16384;

    /// How long it may go unsaid that a call has been carried out for which
    /// nobody waits, for how many calls, and for how many bytes of data: its
    /// sender keeps them.
    time receipt_delay = defaults::receipt_delay;
    size_t receipts = defaults::receipts;
    size_t receipt_bytes = defaults::receipt_bytes;
  };

  /// @param self This node.
  mesh_calls(member self, effects out);

  mesh_calls(member self, effects out, limits bounds);

  mesh_calls(const mesh_calls&) = delete;
  mesh_calls& operator=(const mesh_calls&) = delete;

  ~mesh_calls();

  // -- asking ----------------------------------------------------------------

  /// Asks a member.
  /// @param timeout How long to wait for the answer; none: until the member
  ///                answers or is lost. After a time-out it is unknown whether
  ///                the call is carried out.
  void call(uint32_t rank, host_question what, completion then,
            std::optional<time> timeout = std::nullopt);

  /// Asks a member and does not care for the answer. It is in its turn, and
  /// sent again, like any other call.
  void tell(uint32_t rank, host_question what);

  // -- from the NODE actor ---------------------------------------------------

  /// A message of a member.
  void take(member_message what);

  /// Completes the calls to a member that is lost or has left, and sends the
  /// others again: they may have been on their way through it.
  void member_changed(const member_changed& what);

  /// This node is a member no more: completes the calls to all others.
  void lose_all(const std::string& why);

  /// Sends all calls without an answer again, now and a few times later.
  void routes_changed();

  /// Which members can be asked; this node among them.
  bool is_live(uint32_t rank) const;
  std::vector<uint32_t> live() const;

  // -- time ------------------------------------------------------------------

  /// When `tick` wants to be called next.
  std::optional<time> next_due() const;

  void tick();

  // -- gauges ----------------------------------------------------------------

  /// Calls without an answer.
  size_t open() const;

  /// Answers that are remembered for others.
  size_t remembered() const;

private:
  struct outgoing;
  struct incoming;
  struct state;

  std::shared_ptr<state> state_;
};

/// Reads the answer that a question has: `error` if it is another one.
template <class T>
caf::expected<T> reply_as(caf::expected<host_reply> what) {
  if (!what)
    return std::move(what.error());
  if (auto* x = std::get_if<T>(&*what))
    return std::move(*x);
  return make_error(status::error, "the node answered something else");
}

/// The answer that says why a question is refused.
host_reply refusal(const caf::error& why);

} // namespace troupe
