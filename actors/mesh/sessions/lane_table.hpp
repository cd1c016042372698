#pragma once

#include "messages/peer_frames.hpp"

#include <chrono>
#include <deque>
#include <optional>
#include <vector>

namespace troupe {

/// Steady time, given by whoever drives a protocol core.
using steady_time = std::chrono::steady_clock::time_point;
using steady_duration = std::chrono::steady_clock::duration;

/// One connection to a peer, as its session sees it.
struct lane_state {
  /// A question on its way.
  struct probe {
    uint64_t number = 0;
    steady_time sent_at;

    /// Per class: what was sent before it on this lane, as the number that
    /// comes next, and in which round; 0 if the class rides elsewhere.
    per_class<uint64_t> sent{};
    per_class<uint64_t> rounds{};
  };

  lane_id id = 0;

  /// The peer's number of it; 0 if it has not said.
  lane_id peer_id = 0;

  /// Among usable lanes that are alike otherwise those with the lowest number
  /// are used, whatever their round trips are.
  uint8_t tier = 0;

  steady_time up_at;

  /// Both sides have agreed on the session over this lane.
  bool is_ready = false;

  /// Too long without an answer; probes go on.
  bool is_silent = false;

  /// Smoothed; nothing before the first answer.
  std::optional<steady_duration> round_trip;

  /// When the peer last showed that it hears us here.
  steady_time heard_at;

  /// Since when something is to be answered.
  std::optional<steady_time> waiting_since;

  steady_time probed_at;
  std::deque<probe> probes;

  /// The names that our last hello here had.
  session_name said_own;
  session_name said_peer;

  bool is_usable() const {
    return is_ready && !is_silent;
  }

  /// Notes that something was sent which the peer answers.
  void expect_answer(steady_time now);

  /// Notes that the peer hears us.
  /// @param is_waiting Whether more is to be answered.
  void note_heard(steady_time now, bool is_waiting);

  /// Notes the answer to a probe, and with it those to earlier ones.
  /// @returns the probe, unless it is unknown.
  std::optional<probe> note_answer(uint64_t number, steady_time now);

  /// Forgets what belonged to a session that has ended.
  void reset(steady_time now);

  /// Moves all times by what we were late ourselves.
  void excuse(steady_duration lateness);
};

/// The lanes of one peer.
class lane_table {
public:
  /// @returns nothing if there is one of that number.
  lane_state* add(lane_id id, steady_time now, uint8_t tier = 0);

  bool remove(lane_id id);

  lane_state* find(lane_id id);
  const lane_state* find(lane_id id) const;

  /// Finds a lane by the peer's number. @pre `peer_id` is not 0
  lane_state* find_by_peer(lane_id peer_id);

  /// The usable lane with the lowest round trip of the lowest tier, the oldest
  /// among equals; one through other nodes only if there is no direct one.
  /// Nothing if none is usable.
  const lane_state* best() const;

  std::vector<lane_state>& all() {
    return lanes_;
  }

  const std::vector<lane_state>& all() const {
    return lanes_;
  }

private:
  std::vector<lane_state> lanes_;
};

} // namespace troupe
