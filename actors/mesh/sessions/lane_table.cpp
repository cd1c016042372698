#include "actors/mesh/sessions/lane_table.hpp"

#include <algorithm>
#include <tuple>

namespace troupe {

void lane_state::expect_answer(steady_time now) {
  if (!waiting_since)
    waiting_since = now;
}

void lane_state::note_heard(steady_time now, bool is_waiting) {
  heard_at = now;
  is_silent = false;
  if (is_waiting || !probes.empty())
    waiting_since = now;
  else
    waiting_since = std::nullopt;
}

std::optional<lane_state::probe> lane_state::note_answer(uint64_t number,
                                                         steady_time now) {
  const auto i = std::find_if(probes.begin(), probes.end(),
                              [=](auto& x) { return x.number == number; });
  if (i == probes.end())
    return std::nullopt;
  const auto result = *i;
  probes.erase(probes.begin(), i + 1);
  const auto sample = std::max(now - result.sent_at, steady_duration{0});
  round_trip = round_trip ? *round_trip + (sample - *round_trip) / 8 : sample;
  return result;
}

void lane_state::reset(steady_time now) {
  is_ready = false;
  is_silent = false;
  up_at = now;
  heard_at = now;
  waiting_since = std::nullopt;
  probes.clear();
}

void lane_state::excuse(steady_duration lateness) {
  up_at += lateness;
  heard_at += lateness;
  probed_at += lateness;
  if (waiting_since)
    *waiting_since += lateness;
  for (auto& x : probes)
    x.sent_at += lateness;
}

lane_state* lane_table::add(lane_id id, steady_time now, uint8_t tier) {
  if (find(id))
    return nullptr;
  lane_state result;
  result.id = id;
  result.tier = tier;
  result.up_at = result.heard_at = result.probed_at = now;
  lanes_.push_back(std::move(result));
  return &lanes_.back();
}

bool lane_table::remove(lane_id id) {
  const auto i = std::find_if(lanes_.begin(), lanes_.end(),
                              [=](auto& x) { return x.id == id; });
  if (i == lanes_.end())
    return false;
  lanes_.erase(i);
  return true;
}

lane_state* lane_table::find(lane_id id) {
  for (auto& x : lanes_)
    if (x.id == id)
      return &x;
  return nullptr;
}

const lane_state* lane_table::find(lane_id id) const {
  for (const auto& x : lanes_)
    if (x.id == id)
      return &x;
  return nullptr;
}

lane_state* lane_table::find_by_peer(lane_id peer_id) {
  for (auto& x : lanes_)
    if (x.peer_id == peer_id)
      return &x;
  return nullptr;
}

const lane_state* lane_table::best() const {
  const lane_state* result = nullptr;
  const auto cost = [](const lane_state& x) {
    return std::tuple{is_relay_lane(x.id), x.tier,
                      x.round_trip.value_or(steady_duration::max())};
  };
  for (const auto& x : lanes_)
    if (x.is_usable() && (!result || cost(x) < cost(*result)))
      result = &x;
  return result;
}

} // namespace troupe
