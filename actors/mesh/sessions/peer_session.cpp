#include "actors/mesh/sessions/peer_session.hpp"

#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

template <class T, size_t... Is>
per_class<T> filled(const T& x, std::index_sequence<Is...>) {
  return {{((void)Is, x)...}};
}

template <class T>
per_class<T> filled(const T& x) {
  return filled(x, std::make_index_sequence<traffic_classes>{});
}

} // namespace

peer_session::peer_session(incarnation self, incarnation peer,
                           peer_options options,
                           session_handshake::token_source make_token,
                           steady_time now, uint64_t first_number)
  : options_{options}, names_{self, peer, std::move(make_token), first_number},
    sending_{filled(send_window{options.window})},
    receiving_{filled(receive_window{options.window})},
    told_limit_{filled(uint64_t{options.window})}, contact_at_{now} {
  deadline_ = compute_deadline();
}

// -- every call ---------------------------------------------------------------

void peer_session::begin(steady_time now) {
  const auto lateness = now - deadline_;
  if (lateness <= options_.own_lateness)
    return;
  for (auto& x : lanes_.all())
    x.excuse(lateness);
  contact_at_ += lateness;
  deadline_ = now;
}

void peer_session::settle(steady_time now, peer_effects& out) {
  assign_lanes();
  transmit(now, out);
  acknowledge(now, out);
  offer_credits(out);
  // What has become due with this call is not late, what was before still is.
  deadline_ = std::max(compute_deadline(), std::min(deadline_, now));
}

// -- the owner's side ---------------------------------------------------------

status peer_session::send(traffic_class of, uint64_t ticket,
                          peer_payload payload, steady_time now,
                          peer_effects& out) {
  begin(now);
  const auto i = index_of(of);
  if (i >= traffic_classes || payload.size > options_.message_bytes)
    return status::bad_param;
  if (is_lost_)
    return status::unreach;
  if (!sending_[i].has_room(cost_of(payload.size))) {
    wants_credit_[i] = true;
    return status::out_of_resource;
  }
  sending_[i].push(ticket, std::move(payload));
  settle(now, out);
  return status::success;
}

void peer_session::taken(const deliver_message& message, steady_time now,
                         peer_effects& out) {
  begin(now);
  if (message.session != names_.own().number)
    return; // Its session has ended.
  const auto i = index_of(message.of);
  receiving_[i].taken(cost_of(message.payload.size));
  // Enough to be worth telling; the peer may be waiting for it.
  if (receiving_[i].limit() - told_limit_[i] >= options_.window / 4)
    owe(i, now);
  settle(now, out);
}

void peer_session::give_up(status why, steady_time now, peer_effects& out) {
  begin(now);
  end_session(why, now, out);
  if (names_.is_agreed())
    names_.renew();
  is_lost_ = true;
  while (!lanes_.all().empty())
    refuse(lanes_.all().front().id, "peer given up", now, out);
  settle(now, out);
}

// -- the network's side -------------------------------------------------------

void peer_session::on_lane_up(lane_id id, steady_time now, peer_effects& out,
                              uint8_t tier) {
  begin(now);
  if (lanes_.all().size() >= defaults::lanes_per_peer) {
    out.emplace_back(close_lane{id, "too many lanes of one peer"});
  } else if (auto* lane = lanes_.add(id, now, tier)) {
    say_hello(*lane, out);
  }
  settle(now, out);
}

void peer_session::on_lane_down(lane_id id, steady_time now,
                                peer_effects& out) {
  begin(now);
  if (lanes_.find(id)) {
    forget(id, now);
    note_gone(id, now);
    tell_gone(now, out);
  }
  settle(now, out);
}

void peer_session::on_frame(lane_id id, lane_frame frame, steady_time now,
                            peer_effects& out) {
  begin(now);
  if (auto* lane = lanes_.find(id))
    std::visit([&](auto& x) { handle(*lane, x, now, out); }, frame);
  settle(now, out);
}

void peer_session::on_tick(steady_time now, peer_effects& out) {
  begin(now);
  watch_lanes(now, out);
  watch_peer(now, out);
  settle(now, out);
}

// -- frames -------------------------------------------------------------------

void peer_session::handle(lane_state& lane, hello_frame& x, steady_time now,
                          peer_effects& out) {
  const auto before = names_.peer().of;
  const auto was_agreed = names_.is_agreed();
  const auto outcome = names_.hear(x.sender, x.receiver);
  if (outcome.refusal) {
    refuse(lane.id, outcome.refusal, now, out);
    return;
  }
  lane.peer_id = x.lane;
  if (outcome.is_over) {
    end_session(status::lost_connection, now, out);
    if (was_agreed)
      out.emplace_back(report_peer{report_peer::change::ended, before});
    names_.renew();
    for (auto& y : lanes_.all())
      y.reset(now);
  }
  say_hello_everywhere(out);
  if (!outcome.is_agreed)
    return;
  if (!was_agreed) {
    is_lost_ = false;
    out.emplace_back(report_peer{report_peer::change::begun, names_.peer().of});
  }
  if (!learn(lane, x.received, now, out) || lane.is_ready)
    return;
  lane.is_ready = true;
  lane.note_heard(now, false);
  note_contact(now, out);
  probe(lane, now, out);
  tell_gone(now, out);
}

void peer_session::handle(lane_state& lane, data_frame& x, steady_time now,
                          peer_effects& out) {
  if (!belongs(lane, x.session))
    return;
  const auto i = index_of(x.of);
  if (i >= traffic_classes || x.number == 0
      || x.payload.size > options_.message_bytes) {
    refuse(lane.id, "message has no valid class, number or size", now, out);
    return;
  }
  if (!learn(lane, x.received, now, out))
    return;
  const auto cost = cost_of(x.payload.size);
  std::vector<receive_window::message> turn;
  switch (receiving_[i].accept({x.number, x.payload, !is_relay_lane(lane.id)},
                               turn)) {
    case receive_window::arrival::in_order:
      break;
    case receive_window::arrival::early:
      break;
    case receive_window::arrival::duplicate:
      ++counters_.duplicates;
      break;
    case receive_window::arrival::beyond:
      refuse(lane.id, "message is beyond the window", now, out);
      return;
  }
  for (auto& y : turn)
    deliver(x.of, y, out);
  owed_lane_ = lane.id;
  owed_bytes_ += cost;
  owe(i, owed_bytes_ < options_.acknowledgement_bytes
           ? now + options_.acknowledgement_delay
           : now);
}

void peer_session::handle(lane_state& lane, ack_frame& x, steady_time now,
                          peer_effects& out) {
  if (belongs(lane, x.session))
    learn(lane, x.received, now, out);
}

void peer_session::handle(lane_state& lane, probe_frame& x, steady_time now,
                          peer_effects& out) {
  if (!belongs(lane, x.session) || !learn(lane, x.received, now, out))
    return;
  if (!x.is_answer) {
    ++counters_.answers;
    out.emplace_back(
      put_frame{lane.id, probe_frame{names_.outgoing(), x.number, true,
                                     received(all_classes)}});
    return;
  }
  const auto answered = lane.note_answer(x.number, now);
  if (!answered)
    return;
  lane.note_heard(now, is_waiting(lane));
  note_contact(now, out);
  // The lane keeps the order, so what went before the probe is there or lost.
  for (size_t i = 0; i < traffic_classes; ++i)
    if (riding_[i] == lane.id && answered->rounds[i] == rounds_[i]
        && x.received.speaks_of(i) && x.received.next[i] < answered->sent[i])
      rewind(i);
}

void peer_session::handle(lane_state& lane, gone_frame& x, steady_time now,
                          peer_effects& out) {
  if (!belongs(lane, x.session) || !learn(lane, x.received, now, out)
      || x.lane == 0 || x.lane == lane.peer_id)
    return;
  const auto* gone = lanes_.find_by_peer(x.lane);
  if (!gone || is_relay_lane(gone->id))
    return;
  ++counters_.told_gone;
  out.emplace_back(close_lane{gone->id, "the peer has lost it"});
  forget(gone->id, now);
}

bool peer_session::belongs(const lane_state& lane, uint64_t session) {
  if (lane.is_ready && session == names_.incoming())
    return true;
  ++counters_.dropped;
  return false;
}

bool peer_session::learn(lane_state& lane, const acknowledgement& received,
                         steady_time now, peer_effects& out) {
  std::vector<uint64_t> tickets;
  for (size_t i = 0; i < traffic_classes; ++i) {
    if (!received.speaks_of(i))
      continue;
    tickets.clear();
    if (!sending_[i].acknowledge(received.next[i], received.limit[i],
                                 tickets)) {
      refuse(lane.id, "peer acknowledges what was not sent", now, out);
      return false;
    }
    for (const auto ticket : tickets)
      out.emplace_back(complete_send{ticket, status::success});
    if (!tickets.empty())
      note_progress(lane, i, now, out);
  }
  return true;
}

void peer_session::note_progress(const lane_state& lane, size_t i,
                                 steady_time now, peer_effects& out) {
  auto* riding = riding_[i] ? lanes_.find(*riding_[i]) : nullptr;
  // What was sent on a silent lane may have arrived before it was, or over
  // another one: only what comes in there shows that it works again.
  if (!riding || (riding->id != lane.id && riding->is_silent))
    return;
  riding->note_heard(now, is_waiting(*riding));
  note_contact(now, out);
}

void peer_session::refuse(lane_id lane, const char* reason, steady_time now,
                          peer_effects& out) {
  out.emplace_back(close_lane{lane, reason});
  forget(lane, now);
  note_gone(lane, now);
  tell_gone(now, out);
}

void peer_session::forget(lane_id lane, steady_time now) {
  // Up to now the peer was there, as far as we know.
  if (const auto* x = lanes_.find(lane); x && x->is_usable())
    contact_at_ = now;
  lanes_.remove(lane);
  acknowledge_again(now);
}

void peer_session::note_gone(lane_id lane, steady_time now) {
  // Lanes through others end where their nodes decide, and nothing is lost.
  if (is_relay_lane(lane))
    return;
  if (gone_.size() == defaults::lanes_per_peer)
    gone_.pop_front();
  gone_.push_back({lane, now});
}

void peer_session::tell_gone(steady_time now, peer_effects& out) {
  // Lanes often go together, and what is said over one of them is lost: all is
  // said everywhere, and again until the peer must have noticed by itself.
  while (!gone_.empty() && now - gone_.front().at >= options_.silence)
    gone_.pop_front();
  const auto* best = lanes_.best();
  if (gone_.empty() || !names_.is_agreed() || !best)
    return;
  const auto received = due_acknowledgement();
  for (const auto& lane : lanes_.all())
    if (lane.is_usable() && is_relay_lane(lane.id) == is_relay_lane(best->id))
      for (const auto& x : gone_)
        out.emplace_back(
          put_frame{lane.id, gone_frame{names_.outgoing(), x.id, received}});
}

void peer_session::deliver(traffic_class of, receive_window::message& x,
                           peer_effects& out) {
  ++counters_.delivered;
  if (options_.taken_on_delivery)
    receiving_[index_of(of)].taken(cost_of(x.payload.size));
  out.emplace_back(deliver_message{of, x.number, std::move(x.payload),
                                   names_.own().number, x.is_direct});
}

void peer_session::say_hello(lane_state& lane, peer_effects& out) {
  lane.said_own = names_.own();
  lane.said_peer = names_.peer();
  ++counters_.hellos;
  out.emplace_back(
    put_frame{lane.id, hello_frame{lane.said_own, lane.said_peer,
                                   received(all_classes), lane.id}});
}

void peer_session::say_hello_everywhere(peer_effects& out) {
  for (auto& x : lanes_.all())
    if (x.said_own != names_.own() || x.said_peer != names_.peer())
      say_hello(x, out);
}

void peer_session::end_session(status why, steady_time now, peer_effects& out) {
  for (size_t i = 0; i < traffic_classes; ++i) {
    for (const auto& x : sending_[i].clear())
      out.emplace_back(complete_send{x.ticket, why});
    receiving_[i] = receive_window{options_.window};
    told_limit_[i] = options_.window;
    ++rounds_[i];
  }
  owed_ = 0;
  owed_at_ = std::nullopt;
  owed_bytes_ = 0;
  gone_.clear();
  contact_at_ = now;
}

// -- sending -----------------------------------------------------------------

const lane_state* peer_session::wanted_lane() const {
  const auto* best = lanes_.best();
  if (!best || names_.own().of.node < names_.peer().of.node)
    return best;
  const auto* other = lanes_.find(owed_lane_);
  const auto is_as_good =
    other && other->is_usable()
    && is_relay_lane(other->id) == is_relay_lane(best->id)
    && other->tier == best->tier && other->round_trip && best->round_trip
    && *other->round_trip <= 2 * *best->round_trip + options_.similar;
  return is_as_good ? other : best;
}

void peer_session::assign_lanes() {
  const auto* best = wanted_lane();
  if (!best)
    return; // A class stays where it is: its lane may be heard again.
  auto has_failed = false;
  for (size_t i = 0; i < traffic_classes; ++i) {
    const auto* lane = riding_[i] ? lanes_.find(*riding_[i]) : nullptr;
    // A lane through other nodes is left at once: what leads through them must
    // not lead back.
    const auto is_fit = lane && lane->is_usable()
                        && is_relay_lane(lane->id) <= is_relay_lane(best->id);
    if (lane == best || (is_fit && sending_[i].in_flight() > 0))
      continue;
    has_failed |= riding_[i] && !(lane && lane->is_usable());
    riding_[i] = best->id;
    rewind(i);
  }
  if (has_failed)
    ++counters_.failovers;
}

void peer_session::rewind(size_t i) {
  if (sending_[i].in_flight() > 0)
    ++counters_.rewinds;
  sending_[i].rewind();
  ++rounds_[i];
}

size_t peer_session::flight_of(size_t i) const {
  return is_bulk(static_cast<traffic_class>(i)) ? options_.bulk_in_flight
                                                : options_.reserve_in_flight;
}

void peer_session::transmit(steady_time now, peer_effects& out) {
  for (size_t i = 0; i < traffic_classes; ++i) {
    auto* lane = riding_[i] ? lanes_.find(*riding_[i]) : nullptr;
    if (!lane || !lane->is_usable())
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

// -- time --------------------------------------------------------------------

steady_time peer_session::probe_due(const lane_state& lane) const {
  if (lane.is_silent) {
    // Others wait for this lane if there is no better one.
    const auto is_needed = std::any_of(sending_.begin(), sending_.end(),
                                       [](auto& x) { return x.bytes() > 0; });
    return lane.probed_at + (is_needed ? options_.probe : options_.probe_idle);
  }
  const auto seldom = lane.probed_at + options_.probe_standby;
  if (!is_in_use(lane)) {
    // Whether there is another way has to be known before one is needed: else
    // lanes that fail together cost a silence each, one after another.
    return std::min(seldom,
                    std::max(doubt_at(), lane.probed_at + options_.probe));
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
