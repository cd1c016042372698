#pragma once

// The inside of the calls between hosts: shared by actors/mesh_calls*.cpp only.

#include "actors/mesh/mesh_calls.hpp"
#include "actors/mesh/number_ranges.hpp"

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace troupe {

/// What is asked of one member.
struct mesh_calls::outgoing {
  struct open_call {
    host_question what;
    completion then;
    uint64_t after = 0;
    std::optional<time> due;
  };

  uint64_t incarnation = 0;
  uint64_t next = 1;
  per_class<uint64_t> last = {};
  std::map<uint64_t, open_call> calls;

  /// Answered, and the member has not been told.
  std::set<uint64_t> answered;

  uint64_t settled() const {
    return calls.empty() ? next - 1 : calls.begin()->first - 1;
  }
};

/// What one member asks.
struct mesh_calls::incoming {
  uint64_t incarnation = 0;

  /// Numbers that have been carried out, or never will be.
  number_ranges done;

  /// Carried out, with the class of the answer; no reply: not yet answered.
  struct record {
    traffic_class of = traffic_class::control;
    bool is_reading = false;
    std::optional<host_reply> reply;
    size_t bytes = 0;

    /// Whether nobody waits for an `ack`.
    bool is_patient = false;
  };

  uint64_t settled = 0;
  std::map<uint64_t, record> records;

  /// Carried out, with `ack` as the answer, which has not been sent; and the
  /// data of these calls.
  std::vector<uint64_t> unsaid;
  size_t unsaid_bytes = 0;
  std::map<uint64_t, host_call> early;
};

struct mesh_calls::state : std::enable_shared_from_this<state> {
  /// Answers for who forgot.
  struct token {
    std::weak_ptr<state> owner;
    member from;
    uint64_t number = 0;
    bool is_used = false;

    void give(host_reply what) {
      if (std::exchange(is_used, true))
        return;
      if (const auto to = owner.lock())
        to->answered(from, number, std::move(what));
    }

    ~token() {
      give(mesh_failure{status::unreach, "nobody answered on the node"});
    }
  };

  member self;
  effects out;
  limits bounds;
  std::map<uint32_t, outgoing> to;
  std::map<uint32_t, incoming> from;
  std::map<uint32_t, uint64_t> live;
  std::map<uint32_t, uint64_t> dead; // the latest incarnation
  std::set<std::tuple<time, uint32_t, uint64_t>> deadlines;
  std::optional<time> repeat_at;
  uint32_t repeats_left = 0;

  /// When what is unsaid to some member has to be said.
  std::optional<time> receipts_at;

  // -- asking --

  void call(uint32_t rank, host_question what, completion then,
            std::optional<time> timeout);
  void send(uint32_t rank, outgoing& x, uint64_t number);
  void send_all();
  void complete(uint32_t rank, uint64_t number, caf::expected<host_reply> x);
  void lose(uint32_t rank, const std::string& why);

  // -- answering --

  void take(const member& who, host_call what);
  void settle(incoming& x, const host_call& what);
  void repeat_answer(const member& who, incoming& x, host_call& what);
  void execute(const member& who, uint64_t number, host_question& what);
  void execute_early(const member& who);
  void answered(const member& who, uint64_t number, host_reply reply);
  void give(const member& who, traffic_class of, host_answer what);
  void give_receipt(const member& who, incoming& x);
  void give_receipts();
  std::vector<uint64_t> take_unsaid(const member& who);

  incoming* find(const member& who) {
    const auto i = from.find(who.rank);
    return i != from.end() && i->second.incarnation == who.incarnation
             ? &i->second
             : nullptr;
  }
};

} // namespace troupe
