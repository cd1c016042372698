// What a session does as time passes: probes, silence, loss.

#include "actors/mesh/peer_session.hpp"

#include <algorithm>

namespace troupe {

steady_time peer_session::probe_due(const lane_state& lane) const {
  if (is_planted(planted_error::unbounded_probes))
    return lane.probed_at + std::chrono::milliseconds{1};
  if (lane.is_silent) {
    // Others wait for this lane if there is no better one.
    const auto is_needed = std::any_of(sending_.begin(), sending_.end(),
                                       [](auto& x) { return x.bytes() > 0; });
    return lane.probed_at + (is_needed ? options_.probe : options_.probe_idle);
  }
  const auto seldom = lane.probed_at + options_.probe_standby;
  if (!is_in_use(lane)) {
    // Whether there is another way has to be known before one is needed.
    const auto doubt = doubt_at();
    return lane.probed_at < doubt ? std::min(seldom, doubt) : seldom;
  }
  // What the peer acknowledges here is as good as an answer.
  const auto idle =
    std::min(seldom, std::max(lane.probed_at, lane.heard_at) + idle_time());
  if (!lane.waiting_since || !is_waiting(lane))
    return idle;
  return std::min(idle, std::max(lane.probed_at, *lane.waiting_since)
                          + options_.probe);
}

steady_time peer_session::doubt_at() const {
  auto result = steady_time::max();
  for (const auto& x : lanes_.all())
    if (x.is_usable() && x.waiting_since && is_in_use(x))
      result = std::min(result, *x.waiting_since + options_.probe);
  return result;
}

steady_time peer_session::close_due(const lane_state& lane) const {
  if (lane.is_usable())
    return steady_time::max();
  if (!lane.is_ready)
    return lane.up_at + options_.grace;
  // One that is seldom asked was not silent before it was.
  const auto asked_at = lane.waiting_since.value_or(lane.heard_at);
  return std::max(lane.heard_at, asked_at - idle_time()) + options_.grace;
}

void peer_session::probe(lane_state& lane, steady_time now, peer_effects& out) {
  // Answers to older ones would tell nothing new.
  constexpr size_t remembered = 8;
  if (lane.probes.size() == remembered)
    lane.probes.pop_front();
  lane_state::probe x;
  x.number = ++last_probe_;
  x.sent_at = now;
  x.rounds = rounds_;
  for (size_t i = 0; i < traffic_classes; ++i)
    x.sent[i] = riding_[i] == lane.id ? sending_[i].cursor() : 0;
  lane.probes.push_back(x);
  lane.probed_at = now;
  lane.expect_answer(now);
  ++counters_.probes;
  out.emplace_back(
    put_frame{lane.id, probe_frame{names_.outgoing(), x.number, false,
                                   received(all_classes)}});
}

void peer_session::watch_lanes(steady_time now, peer_effects& out) {
  std::vector<lane_id> useless;
  for (auto& x : lanes_.all()) {
    if (x.is_usable() && x.waiting_since
        && now >= *x.waiting_since + options_.silence) {
      x.is_silent = true;
      acknowledge_again(now);
    }
    if (now >= close_due(x))
      useless.push_back(x.id);
    else if (x.is_ready && now >= probe_due(x))
      probe(x, now, out);
  }
  for (const auto id : useless)
    refuse(id, "lane was silent for too long", now, out);
}

void peer_session::watch_peer(steady_time now, peer_effects& out) {
  if (is_lost_ || is_connected())
    return;
  if (now >= contact_at_ + options_.patience.value_or(options_.grace)) {
    declare_lost(now, out);
  } else if (!is_suspected_ && now >= contact_at_ + options_.suspicion) {
    is_suspected_ = true;
    out.emplace_back(
      report_peer{report_peer::change::suspected, names_.peer().of});
  }
}

void peer_session::note_contact(steady_time now, peer_effects& out) {
  contact_at_ = now;
  if (!is_suspected_)
    return;
  is_suspected_ = false;
  out.emplace_back(report_peer{report_peer::change::heard, names_.peer().of});
}

void peer_session::declare_lost(steady_time now, peer_effects& out) {
  const auto peer = names_.peer().of;
  end_session(status::unreach, now, out);
  if (names_.is_agreed())
    names_.renew();
  is_lost_ = true;
  is_suspected_ = false;
  out.emplace_back(report_peer{report_peer::change::lost, peer});
  for (auto& x : lanes_.all())
    x.reset(now);
  say_hello_everywhere(out);
}

steady_time peer_session::compute_deadline() const {
  auto result = steady_time::max();
  const auto by = [&](steady_time x) { result = std::min(result, x); };
  for (const auto& x : lanes_.all()) {
    by(close_due(x));
    if (x.is_ready)
      by(probe_due(x));
    if (x.is_usable() && x.waiting_since)
      by(*x.waiting_since + options_.silence);
  }
  if (is_connected()) {
    if (owed_at_)
      by(*owed_at_);
  } else if (!is_lost_) {
    by(contact_at_ + options_.patience.value_or(options_.grace));
    if (!is_suspected_)
      by(contact_at_ + options_.suspicion);
  }
  return result;
}

} // namespace troupe
