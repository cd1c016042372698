#include "adapters/networks/network.hpp"

#include "adapters/loop/timer.hpp"
#include "adapters/sockets/socket_kind.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How long a lane that we close may go on sending.
constexpr auto farewell_time = 500ms;

/// How often to try to listen on an address that is not free.
constexpr auto listen_interval = 1s;

lane_id next_lane() {
  static std::atomic<lane_id> last{0};
  return ++last;
}

} // namespace

struct network::lane_entry {
  lane_entry(network& parent, lane_id id, secure_channel channel)
    : adoption(parent.loop_,
               [&parent, id] {
                 parent.on_end(id, "nobody has adopted it within "
                                     + std::to_string(
                                       parent.settings_.adoption_time.count())
                                     + " ms");
               }),
      lane(
        parent.loop_, std::move(channel), parent.settings_.limits,
        {[&parent, id](lane_frame&& x) {
           parent.owner_.on_frame(id, std::move(x));
         },
         [&parent, id](const std::string& why) { parent.on_end(id, why); }}) {
    adoption.start(parent.settings_.adoption_time);
  }

  bool is_adopted = false;
  bool is_paused = false;
  timer adoption;
  frame_lane lane;
};

network::network(event_loop& loop,
                 std::shared_ptr<const secure_context> context,
                 network_settings settings, network_owner& owner)
  : loop_(loop), context_(std::move(context)), settings_(std::move(settings)),
    owner_(owner), sweep_(loop,
                          [this] {
                            retired_lanes_.clear();
                            retired_dials_.clear();
                            closing_.remove_if(
                              [](const auto& x) { return !x->lane.is_open(); });
                            if (!closing_.empty())
                              sweep_.start(farewell_time);
                          }),
    listen_again_(loop, [this] { listen_again(); }) {
  // nop
}

network::~network() = default;

// -- listening ---------------------------------------------------------------

void network::listen(std::vector<node_address> places) {
  wanted_ = std::move(places);
  const auto is_wanted = [this](const std::string& address) {
    return std::any_of(wanted_.begin(), wanted_.end(),
                       [&](const auto& x) { return x.address == address; });
  };
  for (auto i = listeners_.begin(); i != listeners_.end();)
    i = is_wanted(i->first) ? std::next(i) : listeners_.erase(i);
  listen_where_missing();
  tell_addresses();
}

void network::listen_where_missing() {
  for (const auto& x : wanted_)
    if (listeners_.count(x.address) == 0)
      listen_on(x);
}

void network::listen_on(const node_address& place) {
  lane_listener_options options;
  options.networks = {{place.address, {}}};
  options.port = place.port != 0 ? place.port : settings_.port;
  options.is_member = settings_.is_member;
  options.on_lane = [this](secure_channel channel, size_t) {
    add_lane(0, std::move(channel));
  };
  options.limits = settings_.limits;
  options.log = settings_.log;
  auto result = lane_listener::start(loop_, context_, options);
  if (!result && options.port != settings_.port) {
    options.port = settings_.port;
    result = lane_listener::start(loop_, context_, options);
  }
  if (result) {
    listeners_.emplace(place.address, std::move(*result));
    untaken_.erase(place.address);
    return;
  }
  if (settings_.log && untaken_.insert(place.address).second)
    settings_.log(severity::warning,
                  "network " + settings_.name
                    + ": takes no lanes: " + reason_of(result.error())
                    + "; use another port, or leave the network out");
  listen_again_.start(listen_interval);
}

void network::listen_again() {
  const auto before = listeners_.size();
  listen_where_missing();
  if (listeners_.size() != before)
    tell_addresses();
}

void network::tell_addresses() {
  std::vector<node_address> result;
  for (const auto& x : wanted_)
    if (const auto i = listeners_.find(x.address); i != listeners_.end())
      result.push_back(
        {settings_.name, x.address, i->second->addresses().front().port});
  owner_.on_listening(settings_.name, std::move(result));
}

// -- dialling ----------------------------------------------------------------

void network::dial(dial_id id, const lane_path& path, node_identity peer,
                   std::chrono::milliseconds patience) {
  auto limits = settings_.limits;
  limits.connect_time = std::min(limits.connect_time, patience);
  dials_[id] = std::make_unique<lane_connector>(
    loop_, *context_, path, std::move(peer), limits,
    [this, id](caf::expected<secure_channel> channel) {
      // What calls us is the connector.
      retire(std::move(dials_.extract(id).mapped()));
      if (channel)
        add_lane(id, std::move(*channel));
      else
        owner_.on_dial_failed(id, std::move(channel.error()));
    });
}

void network::give_up(dial_id id) {
  dials_.erase(id);
}

// -- lanes -------------------------------------------------------------------

void network::add_lane(dial_id dial, secure_channel channel) {
  lane_opened x;
  x.lane = next_lane();
  x.rank = channel.peer.rank;
  x.name = channel.peer.name;
  x.user = channel.peer.user;
  x.network = settings_.name;
  const auto fd = channel.way->fd();
  x.local = socket_kind_of(fd).local_end(fd).address;
  x.remote = socket_kind_of(fd).remote_end(fd).address;
  x.is_dialled = dial != 0;
  lanes_.emplace(
    x.lane, std::make_unique<lane_entry>(*this, x.lane, std::move(channel)));
  owner_.on_lane(dial, std::move(x));
}

void network::adopt(lane_id lane) {
  if (const auto i = lanes_.find(lane); i != lanes_.end()) {
    i->second->adoption.cancel();
    i->second->is_adopted = true;
    update(*i->second);
  }
}

void network::pause(lane_id lane, bool is_paused) {
  if (const auto i = lanes_.find(lane); i != lanes_.end()) {
    i->second->is_paused = is_paused;
    update(*i->second);
  }
}

void network::hold(bool is_held) {
  is_held_ = is_held;
  for (auto& [id, x] : lanes_)
    update(*x);
}

void network::update(lane_entry& x) {
  if (x.is_adopted && !x.is_paused && !is_held_)
    x.lane.resume();
  else
    x.lane.pause();
}

void network::put(lane_id lane, const lane_frame& frame) {
  if (const auto i = lanes_.find(lane); i != lanes_.end())
    i->second->lane.put(frame);
}

void network::close(lane_id lane) {
  auto node = lanes_.extract(lane);
  if (node.empty())
    return;
  auto& x = closing_.emplace_back(std::move(node.mapped()));
  x->adoption.cancel();
  x->lane.close(farewell_time);
  if (!sweep_.is_running())
    sweep_.start(farewell_time);
}

void network::cut(lane_id lane) {
  auto node = lanes_.extract(lane);
  if (node.empty())
    return;
  node.mapped()->adoption.cancel();
  node.mapped()->lane.cut();
  retire(std::move(node.mapped()));
}

void network::on_end(lane_id lane, const std::string& reason) {
  auto node = lanes_.extract(lane);
  if (node.empty())
    return;
  node.mapped()->adoption.cancel();
  node.mapped()->lane.cut();
  retire(std::move(node.mapped()));
  owner_.on_lane_end(lane, reason);
}

void network::retire(std::unique_ptr<lane_entry> x) {
  retired_lanes_.push_back(std::move(x));
  sweep_.start(0ns);
}

void network::retire(std::unique_ptr<lane_connector> x) {
  retired_dials_.push_back(std::move(x));
  sweep_.start(0ns);
}

} // namespace troupe
