#include "adapters/networks/network_set.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "messages/status.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// A user is asked whether it keeps up after so many bytes, and a lane is not
/// read while so many questions are open.
constexpr size_t question_bytes = size_t{256} << 10;
constexpr size_t questions_max = 2;

/// Addresses whose ports are remembered.
constexpr size_t ports_max = 256;

/// What a frame costs beside its payload.
constexpr size_t frame_cost = 256;

size_t cost_of_frame(const lane_frame& x) {
  const auto* data = std::get_if<data_frame>(&x);
  return frame_cost + (data != nullptr ? data->payload.size : 0);
}

} // namespace

network_set::network_set(actor_pointer self, event_loop& loop,
                         std::shared_ptr<const secure_context> context,
                         networks_options options)
  : self_(self), loop_(loop), context_(std::move(context)),
    options_(std::move(options)), reach_(loop, options_.times, means()),
    look_again_(loop, [this] { look_again(); }) {
  // nop
}

network_set::~network_set() = default;

void network_set::log(severity weight, const std::string& line) {
  if (options_.log)
    options_.log(weight, line);
}

// -- networks ----------------------------------------------------------------

caf::error network_set::start() {
  if (!options_.kernel) {
    auto kernel = make_network_kernel(loop_);
    if (!kernel)
      return std::move(kernel.error());
    options_.kernel = std::move(*kernel);
  }
  // First this, then the question: nothing is missed in between.
  if (auto err = options_.kernel->watch([this] { look_again_.start(0ns); }))
    return err;
  auto all = options_.kernel->interfaces();
  if (!all)
    return std::move(all.error());
  compare(choose_networks(*all, options_.interfaces));
  // The owner hears of the start also if there is no network at all.
  if (listening_.empty())
    tell_addresses();
  return caf::none;
}

void network_set::look_again() {
  auto all = options_.kernel->interfaces();
  if (!all) {
    log(severity::warning, reason_of(all.error()));
    look_again_.start(1s);
    return;
  }
  compare(choose_networks(*all, options_.interfaces));
  reach_.review(own_);
}

/// Takes over what the kernel says now.
void network_set::compare(std::vector<own_network> now) {
  const auto before = listening_;
  is_comparing_ = true;
  own_ = std::move(now);
  std::map<std::string, std::set<std::string>> addresses;
  for (const auto& x : own_)
    addresses[x.name].insert(x.addresses.begin(), x.addresses.end());
  std::vector<std::pair<lane_id, std::string>> ended;
  for (const auto& [id, x] : lanes_) {
    const auto network = addresses.find(x.network);
    if (network == addresses.end())
      ended.emplace_back(id, "network " + x.network + " is down");
    else if (network->second.count(x.local) == 0)
      ended.emplace_back(id, "address " + x.local + " is gone from network "
                               + x.network);
  }
  for (const auto& [id, reason] : ended) {
    if (auto* network = find(lanes_[id].network))
      network->cut(id);
    end_lane(id, reason);
  }
  for (auto i = networks_.begin(); i != networks_.end();)
    if (addresses.count(i->first) == 0) {
      log(severity::warning, "network " + i->first + " is down");
      listening_.erase(i->first);
      i = networks_.erase(i);
    } else {
      ++i;
    }
  for (const auto& x : own_) {
    auto& module = networks_[x.name];
    if (!module) {
      network_settings settings;
      settings.name = x.name;
      settings.port = options_.port;
      settings.is_member = [this](const std::string& y) {
        return reach_.knows(y);
      };
      settings.limits = options_.limits;
      settings.adoption_time = options_.adoption_time;
      settings.log = options_.log;
      module =
        std::make_unique<network>(loop_, context_, std::move(settings), *this);
    }
    std::vector<node_address> places;
    for (const auto& y : x.listening)
      places.push_back({x.name, y, port_of(y)});
    module->listen(std::move(places));
  }
  is_comparing_ = false;
  if (listening_ != before)
    tell_addresses();
}

void network_set::on_listening(const std::string& network,
                               std::vector<node_address> addresses) {
  auto& known = listening_[network];
  if (known == addresses)
    return;
  known = std::move(addresses);
  if (ports_.size() > ports_max)
    ports_.clear();
  for (const auto& x : known)
    ports_[x.address] = x.port;
  if (!is_comparing_)
    tell_addresses();
}

uint16_t network_set::port_of(const std::string& address) const {
  const auto i = ports_.find(address);
  return i != ports_.end() ? i->second : uint16_t{0};
}

void network_set::tell_addresses() {
  networks_changed x;
  for (const auto& [name, addresses] : listening_)
    x.addresses.insert(x.addresses.end(), addresses.begin(), addresses.end());
  self_->send(options_.owner, std::move(x));
}

network* network_set::find(const std::string& name) {
  const auto i = networks_.find(name);
  return i != networks_.end() ? i->second.get() : nullptr;
}

// -- nodes -------------------------------------------------------------------

void network_set::reach(const reach_node& node) {
  reach_.reach(node, own_);
}

void network_set::release(uint32_t rank) {
  reach_.release(rank);
  std::vector<lane_id> ended;
  for (const auto& [id, x] : lanes_)
    if (x.rank == rank)
      ended.push_back(id);
  for (const auto id : ended)
    drop({id, "the node is not needed any more"});
}

reach_table::means network_set::means() {
  reach_table::means result;
  result.may_dial = [this](uint32_t rank, const reach_path& path) {
    return may_dial(rank, path);
  };
  result.dial = [this](dial_id id, const std::string& network,
                       const reach_end& end, node_identity peer,
                       std::chrono::milliseconds patience) {
    peer.dvm = context_->self().dvm;
    if (auto* x = find(network))
      x->dial(id, {{end.from, {}}, end.to, end.port}, std::move(peer),
              patience);
  };
  result.give_up = [this](dial_id id, const std::string& network) {
    if (auto* x = find(network))
      x->give_up(id);
  };
  result.report = [this](lane_failed x) {
    self_->send(options_.owner, std::move(x));
  };
  result.route = [this](const std::string& address) {
    return options_.kernel->route_to(address);
  };
  result.random = options_.random;
  return result;
}

bool network_set::may_dial(uint32_t rank, const reach_path& path) const {
  for (const auto& [id, x] : lanes_)
    if (x.rank == rank && x.network == path.network)
      for (const auto& end : path.ends)
        if (x.remote == end.to)
          return false;
  return lanes_to(rank) + reach_.dials_to(rank) < options_.lanes_per_peer;
}

size_t network_set::lanes_to(uint32_t rank) const {
  return static_cast<size_t>(
    std::count_if(lanes_.begin(), lanes_.end(),
                  [rank](const auto& x) { return x.second.rank == rank; }));
}

void network_set::on_dial_failed(dial_id dial, caf::error why) {
  reach_.on_dial_failed(dial, why);
}

// -- lanes -------------------------------------------------------------------

void network_set::on_lane(dial_id dial, lane_opened x) {
  reach_.on_lane(dial);
  if (lanes_to(x.rank) >= options_.lanes_per_peer) {
    log(severity::warning,
        "lane from " + x.name + " at " + x.remote + ": refused: limit of "
          + std::to_string(options_.lanes_per_peer) + " lanes to a node");
    if (auto* network = find(x.network))
      network->close(x.lane);
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

void network_set::adopt(lane_id lane, const lane_user_actor& user) {
  const auto i = lanes_.find(lane);
  if (i == lanes_.end()) {
    // It ended while the owner made up its mind.
    self_->send(user, lane_closed{lane, "has ended before it was adopted"});
    return;
  }
  auto& x = i->second;
  x.user = user;
  self_->monitor(user);
  if (auto* network = find(x.network))
    network->adopt(lane);
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
  if (auto* network = find(i->second.network))
    network->put(x.lane, x.frame);
}

void network_set::drop(const drop_lane& x) {
  const auto i = lanes_.find(x.lane);
  if (i == lanes_.end())
    return;
  if (auto* network = find(i->second.network))
    network->close(x.lane);
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
  if (x.user)
    self_->send(x.user, lane_closed{id, reason});
  else
    self_->send(options_.owner, lane_closed{id, reason});
  if (!is_comparing_)
    reach_.on_lane_end(x.rank, x.network, clock::now() - x.since);
}

// -- frames ------------------------------------------------------------------

void network_set::on_frame(lane_id lane, lane_frame frame) {
  const auto i = lanes_.find(lane);
  if (i == lanes_.end() || !i->second.user)
    return;
  auto& x = i->second;
  x.unasked += cost_of_frame(frame);
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
  if (auto* network = find(x.network))
    network->pause(id);
}

void network_set::on_user_answer(lane_id id) {
  const auto i = lanes_.find(id);
  if (i == lanes_.end())
    return;
  auto& x = i->second;
  --x.unanswered;
  if (!std::exchange(x.is_paused, false))
    return;
  if (auto* network = find(x.network))
    network->adopt(id);
}

} // namespace troupe
