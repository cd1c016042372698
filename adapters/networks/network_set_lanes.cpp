// Lanes of a node: who uses them, and their frames.

#include "adapters/networks/network_set.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// A user is asked whether it keeps up after so many bytes, and a lane is not
/// read while so many questions are open.
constexpr size_t question_bytes = size_t{256} << 10;
constexpr size_t questions_max = 2;

} // namespace

// -- lanes -------------------------------------------------------------------

void network_set::on_lane(dial_id dial, lane_opened x) {
  reach_.on_lane(dial);
  if (!is_ours(x)) {
    // The kernel was faster than the lane's thread.
    with(x.network, [id = x.lane](network& y) { y.cut(id); });
    return;
  }
  if (lanes_to(x.rank) >= options_.lanes_per_peer) {
    log(severity::warning,
        "lane from " + x.name + " at " + x.remote + ": refused: limit of "
          + std::to_string(options_.lanes_per_peer) + " lanes to a node");
    with(x.network, [id = x.lane](network& y) { y.close(id); });
    return;
  }
  lane_entry entry;
  entry.network = x.network;
  entry.local = x.local;
  entry.remote = x.remote;
  entry.rank = x.rank;
  entry.since = clock::now();
  lanes_.emplace(x.lane, std::move(entry));
  self_->send(options_.owner, std::move(x));
}

/// Whether a lane's network and address are there.
bool network_set::is_ours(const lane_opened& x) const {
  return std::any_of(own_.begin(), own_.end(), [&](const auto& y) {
    return y.name == x.network
           && std::find(y.addresses.begin(), y.addresses.end(), x.local)
                != y.addresses.end();
  });
}

void network_set::adopt(lane_id lane, const lane_user_actor& user) {
  const auto i = lanes_.find(lane);
  if (i == lanes_.end()) {
    // It ended while the owner made up its mind.
    self_->send(user, lane_closed{lane, "has ended before it was adopted"});
    return;
  }
  auto& x = i->second;
  if (x.user)
    watched_.remove(x.user.address());
  x.user = user;
  watched_.add(self_, user);
  with(x.network, [lane](network& y) { y.adopt(lane); });
}

void network_set::abandon(const caf::actor_addr& user) {
  std::vector<lane_id> ended;
  for (const auto& [id, x] : lanes_)
    if (x.user && x.user.address() == user)
      ended.push_back(id);
  for (const auto id : ended)
    drop({id, "its user has ended"});
}

void network_set::put(const put_lane_frame& x) {
  const auto i = lanes_.find(x.lane);
  if (i == lanes_.end())
    return;
  // Not by `with`: this is what happens most.
  const auto runner = networks_.find(i->second.network);
  if (runner == networks_.end())
    return;
  if (auto* network = runner->second->here())
    network->put(x.lane, x.frame);
  else
    runner->second->run([x](class network& y) { y.put(x.lane, x.frame); });
}

void network_set::drop(const drop_lane& x) {
  const auto i = lanes_.find(x.lane);
  if (i == lanes_.end())
    return;
  with(i->second.network, [id = x.lane](network& y) { y.close(id); });
  end_lane(x.lane, x.reason);
}

void network_set::on_lane_end(lane_id lane, const std::string& reason) {
  end_lane(lane, reason);
}

void network_set::end_lane(lane_id id, const std::string& reason) {
  auto node = lanes_.extract(id);
  if (node.empty())
    return;
  const auto& x = node.mapped();
  if (x.user) {
    watched_.remove(x.user.address());
    self_->send(x.user, lane_closed{id, reason});
  } else {
    self_->send(options_.owner, lane_closed{id, reason});
  }
  if (!is_comparing_)
    reach_.on_lane_end(x.rank, x.network, clock::now() - x.since);
}

// -- frames ------------------------------------------------------------------

void network_set::on_frame(lane_id lane, lane_frame frame) {
  const auto i = lanes_.find(lane);
  if (i == lanes_.end() || !i->second.user)
    return;
  auto& x = i->second;
  x.unasked += memory_of(frame);
  if (x.unasked < question_bytes)
    self_->send(x.user, lane_frame_arrived{lane, std::move(frame)});
  else
    ask_user(lane, x, {lane, std::move(frame)});
}

/// Sends a frame whose answer shows that the user has handled all before it: a
/// peer that sends more than is agreed must not fill our memory.
void network_set::ask_user(lane_id id, lane_entry& x,
                           lane_frame_arrived frame) {
  x.unasked = 0;
  ++x.unanswered;
  const auto done = [this, id] { on_user_answer(id); };
  self_->request(x.user, caf::infinite, std::move(frame))
    .then(done, [done](const caf::error&) { done(); });
  if (x.unanswered < questions_max || x.is_paused)
    return;
  x.is_paused = true;
  with(x.network, [id](network& y) { y.pause(id, true); });
}

void network_set::on_user_answer(lane_id id) {
  const auto i = lanes_.find(id);
  if (i == lanes_.end())
    return;
  auto& x = i->second;
  --x.unanswered;
  if (!std::exchange(x.is_paused, false))
    return;
  with(x.network, [id](network& y) { y.pause(id, false); });
}

} // namespace troupe
