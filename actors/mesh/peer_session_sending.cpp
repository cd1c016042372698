// What a session sends, and on which lane.

#include "actors/mesh/peer_session.hpp"

#include <algorithm>
#include <limits>

namespace troupe {

const lane_state* peer_session::wanted_lane() const {
  const auto* best = lanes_.best();
  if (!best || names_.own().of.node < names_.peer().of.node)
    return best;
  const auto* other = lanes_.find(owed_lane_);
  const auto is_as_good =
    other && other->is_usable()
    && is_relay_lane(other->id) == is_relay_lane(best->id) && other->round_trip
    && best->round_trip
    && *other->round_trip <= 2 * *best->round_trip + options_.similar;
  return is_as_good ? other : best;
}

void peer_session::assign_lanes() {
  const auto* best = wanted_lane();
  if (!best)
    return; // A class stays where it is: its lane may be heard again.
  for (size_t i = 0; i < traffic_classes; ++i) {
    const auto* lane = riding_[i] ? lanes_.find(*riding_[i]) : nullptr;
    // A lane through other nodes is left at once: what leads through them must
    // not lead back.
    const auto is_fit = lane && lane->is_usable()
                        && is_relay_lane(lane->id) <= is_relay_lane(best->id);
    if (lane == best || (is_fit && sending_[i].in_flight() > 0))
      continue;
    riding_[i] = best->id;
    rewind(i);
  }
}

void peer_session::rewind(size_t i) {
  if (sending_[i].in_flight() > 0)
    ++counters_.rewinds;
  if (!is_planted(planted_error::no_resend))
    sending_[i].rewind();
  ++rounds_[i];
}

size_t peer_session::flight_of(size_t i) const {
  if (is_planted(planted_error::no_flight_bound))
    return std::numeric_limits<size_t>::max();
  return is_bulk(static_cast<traffic_class>(i)) ? options_.bulk_in_flight
                                                : options_.reserve_in_flight;
}

void peer_session::transmit(steady_time now, peer_effects& out) {
  for (size_t i = 0; i < traffic_classes; ++i) {
    auto* lane = riding_[i] ? lanes_.find(*riding_[i]) : nullptr;
    if (!lane || !lane->is_usable())
      continue;
    if (is_planted(planted_error::no_reserve)
        && sending_[index_of(traffic_class::io)].in_flight() > 0
        && !is_bulk(static_cast<traffic_class>(i)))
      continue;
    for (;;) {
      const auto is_repeating = sending_[i].is_repeating();
      const auto* x = sending_[i].take(flight_of(i));
      if (!x)
        break;
      ++counters_.sent;
      if (is_repeating) {
        ++counters_.resent;
        counters_.resent_bytes += cost_of(x->payload.size);
      }
      out.emplace_back(put_frame{
        lane->id, data_frame{names_.outgoing(), static_cast<traffic_class>(i),
                             x->number, due_acknowledgement(), x->payload}});
      lane->expect_answer(now);
    }
  }
}

bool peer_session::is_waiting(const lane_state& lane) const {
  for (size_t i = 0; i < traffic_classes; ++i)
    if (riding_[i] == lane.id && sending_[i].in_flight() > 0)
      return true;
  return false;
}

bool peer_session::is_in_use(const lane_state& lane) const {
  return std::find(riding_.begin(), riding_.end(), lane.id) != riding_.end();
}

void peer_session::offer_credits(peer_effects& out) {
  for (size_t i = 0; i < traffic_classes; ++i)
    if (wants_credit_[i] && !is_lost_
        && sending_[i].bytes() <= options_.window / 2) {
      wants_credit_[i] = false;
      out.emplace_back(offer_credit{static_cast<traffic_class>(i)});
    }
}

acknowledgement peer_session::received(uint8_t classes) const {
  acknowledgement result;
  result.classes = classes;
  for (size_t i = 0; i < traffic_classes; ++i) {
    if (!result.speaks_of(i))
      continue;
    result.next[i] = receiving_[i].next();
    result.limit[i] = receiving_[i].limit();
    if (is_planted(planted_error::early_acknowledgement)
        && receiving_[i].early_bytes() > 0)
      ++result.next[i];
  }
  return result;
}

acknowledgement peer_session::due_acknowledgement() {
  auto result = received(owed_);
  for (size_t i = 0; i < traffic_classes; ++i)
    if (result.speaks_of(i))
      told_limit_[i] = result.limit[i];
  owed_ = 0;
  owed_at_ = std::nullopt;
  owed_bytes_ = 0;
  return result;
}

void peer_session::owe(size_t i, steady_time at) {
  owed_ = static_cast<uint8_t>(owed_ | 1U << i);
  owed_at_ = owed_at_ ? std::min(*owed_at_, at) : at;
}

void peer_session::acknowledge_again(steady_time now) {
  for (size_t i = 0; i < traffic_classes; ++i)
    if (receiving_[i].next() > 1)
      owe(i, now);
}

void peer_session::acknowledge(steady_time now, peer_effects& out) {
  if (!owed_at_ || *owed_at_ > now)
    return;
  // Where the messages came from: that network works in one direction at least.
  const lane_state* lane = lanes_.find(owed_lane_);
  if (!lane || !lane->is_usable())
    lane = lanes_.best();
  if (!lane)
    return;
  ++counters_.acknowledgements;
  out.emplace_back(
    put_frame{lane->id, ack_frame{names_.outgoing(), due_acknowledgement()}});
}

} // namespace troupe
