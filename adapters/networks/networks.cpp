#include "adapters/networks/networks.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/networks/network_runner.hpp"
#include "adapters/sockets/local_socket.hpp"
#include "base/watches.hpp"
#include "messages/status.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

// -- networks of a node ------------------------------------------------------

/// The rules of the NETWORKS actor: which networks there are, which lanes, and
/// who uses them. For the thread of the loop only.
class network_set : public network_owner {
public:
  using actor_pointer = networks_actor::stateful_pointer<networks_state>;

  network_set(actor_pointer self, event_loop& loop,
              std::shared_ptr<const secure_context> context,
              networks_options options);

  ~network_set() override;

  /// Begins to listen.
  caf::error start();

  void reach(const reach_node& node);
  void release(uint32_t rank);
  void adopt(lane_id lane, const lane_user_actor& user);
  void put(const put_lane_frame& x);
  void drop(const drop_lane& x);

  /// An actor that uses lanes has ended.
  void abandon(const caf::actor_addr& user);

  // -- from the networks -----------------------------------------------------

  void on_listening(const std::string& network,
                    std::vector<node_address> addresses) override;
  void on_lane(dial_id dial, lane_opened lane) override;
  void on_dial_failed(dial_id dial, caf::error why) override;
  void on_frame(lane_id lane, lane_frame frame) override;
  void on_lane_end(lane_id lane, const std::string& reason) override;

private:
  using clock = std::chrono::steady_clock;

  struct lane_entry {
    std::string network;
    std::string local;
    std::string remote;
    uint32_t rank = 0;
    clock::time_point since;

    /// Nobody before it is adopted.
    lane_user_actor user;

    /// Bytes given to the user since it was last asked whether it keeps up, and
    /// questions it has not answered.
    size_t unasked = 0;
    size_t unanswered = 0;
    bool is_paused = false;
  };

  caf::error prepare_local();
  std::vector<own_network>
  usable(const std::vector<network_interface>& all) const;
  caf::expected<network_route> route_to(const std::string& address) const;
  void look_again();
  void compare(std::vector<own_network> now);
  void add_network(const own_network& x);
  void tell_addresses();
  uint16_t port_of(const std::string& address) const;
  reach_table::means means();
  bool may_dial(uint32_t rank, const reach_path& path) const;
  size_t lanes_to(uint32_t rank) const;
  bool is_ours(const lane_opened& x) const;
  void note_members();

  /// Calls `f` on the network's loop, if there is such a network.
  void with(const std::string& name, std::function<void(network&)> f);

  void end_lane(lane_id id, const std::string& reason);
  void ask_user(lane_id id, lane_entry& x, lane_frame_arrived frame);
  void on_user_answer(lane_id id);
  void log(severity weight, const std::string& line);

  actor_pointer self_;
  event_loop& loop_;
  std::shared_ptr<const secure_context> context_;
  networks_options options_;
  std::vector<own_network> own_;

  /// Our name among the daemons of this machine; empty: there are no such lanes.
  std::string local_name_;

  /// Addresses of nodes of the DVM; read by the threads of networks.
  class member_addresses;
  std::shared_ptr<member_addresses> members_;

  std::map<std::string, std::vector<node_address>> listening_;

  /// Networks that have not said yet where they listen.
  std::set<std::string> awaited_;

  /// Whether the owner knows where we listen.
  bool is_told_ = false;

  /// The port that an address had, to take it again when it comes back: other
  /// nodes dial there.
  std::map<std::string, uint16_t> ports_;

  std::map<lane_id, lane_entry> lanes_;

  /// The users of lanes: each has many of them in its life.
  watches watched_;
  reach_table reach_;
  std::map<std::string, std::unique_ptr<network_runner>> networks_;

  /// The kernel often says several things at once.
  timer look_again_;
  bool is_comparing_ = false;
};

using namespace std::chrono_literals;

/// Addresses whose ports are remembered.
constexpr size_t ports_max = 256;

/// The network of the daemons of this machine; the number is no interface's.
constexpr auto local_network = "unix";
constexpr int local_index = -1;

class network_set::member_addresses {
public:
  void assign(std::set<std::string> x) {
    const std::lock_guard<std::mutex> guard{mutex_};
    addresses_ = std::move(x);
  }

  bool contains(const std::string& x) const {
    const std::lock_guard<std::mutex> guard{mutex_};
    return addresses_.count(x) != 0;
  }

private:
  mutable std::mutex mutex_;
  std::set<std::string> addresses_; // guarded by mutex_
};

network_set::network_set(actor_pointer self, event_loop& loop,
                         std::shared_ptr<const secure_context> context,
                         networks_options options)
  : self_(self), loop_(loop), context_(std::move(context)),
    options_(std::move(options)),
    members_(std::make_shared<member_addresses>()),
    reach_(loop, options_.times, means()),
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
  if (auto err = prepare_local())
    return err;
  if (context_->is_insecure() && options_.kinds.tcp) {
    auto& wanted = options_.interfaces.include;
    for (const auto& x : *all)
      if (x.is_loopback && wanted.empty())
        wanted.push_back(x.name);
    for (const auto& x : choose_networks(*all, options_.interfaces))
      if (!x.is_loopback)
        return make_error(status::no_permissions,
                          "network " + x.name
                            + " cannot be used without security: leave it out "
                              "or do without --insecure");
  }
  compare(usable(*all));
  return caf::none;
}

/// Finds our name among the daemons of this machine.
caf::error network_set::prepare_local() {
  if (!options_.kinds.local)
    return caf::none;
  auto name = make_local_name();
  if (name)
    local_name_ = std::move(*name);
  else if (!options_.kinds.tcp)
    return std::move(name.error());
  else
    log(severity::info,
        "no lanes within this machine: " + reason_of(name.error()));
  return caf::none;
}

/// The networks of all kinds that lanes may use now.
std::vector<own_network>
network_set::usable(const std::vector<network_interface>& all) const {
  auto result = std::vector<own_network>{};
  if (options_.kinds.tcp)
    result = choose_networks(all, options_.interfaces);
  const auto is_taken =
    std::any_of(result.begin(), result.end(),
                [](const auto& x) { return x.name == local_network; });
  if (!local_name_.empty() && !is_taken)
    result.push_back(
      {local_network, local_index, true, {local_name_}, {local_name_}});
  return result;
}

/// Each kind of lanes has routes of its own.
caf::expected<network_route>
network_set::route_to(const std::string& address) const {
  if (lane_kind_of(address) == lane_kind::tcp)
    return options_.kernel->route_to(address);
  if (!is_in_place_of(local_name_, address))
    return make_error(status::unreach, address + " is not on this machine");
  return network_route{local_index, local_name_, false};
}

void network_set::look_again() {
  auto all = options_.kernel->interfaces();
  if (!all) {
    log(severity::warning, reason_of(all.error()));
    look_again_.start(1s);
    return;
  }
  compare(usable(*all));
  reach_.review(own_);
}

/// Takes over what the kernel says now.
void network_set::compare(std::vector<own_network> now) {
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
    with(lanes_[id].network, [id = id](network& x) { x.cut(id); });
    end_lane(id, reason);
  }
  for (auto i = networks_.begin(); i != networks_.end();)
    if (addresses.count(i->first) == 0) {
      log(severity::warning, "network " + i->first + " is down");
      listening_.erase(i->first);
      is_told_ = false;
      i = networks_.erase(i);
    } else {
      ++i;
    }
  awaited_.clear();
  for (const auto& x : own_)
    awaited_.insert(x.name);
  for (const auto& x : own_) {
    add_network(x);
    std::vector<node_address> places;
    for (const auto& y : x.listening)
      places.push_back({x.name, y, port_of(y)});
    with(x.name, [places](network& y) { y.listen(places); });
  }
  is_comparing_ = false;
  if (awaited_.empty() && !is_told_)
    tell_addresses();
}

void network_set::add_network(const own_network& x) {
  auto& runner = networks_[x.name];
  if (runner)
    return;
  network_settings settings;
  settings.name = x.name;
  settings.port =
    lane_kind_of(x.listening.front()) == lane_kind::tcp ? options_.port : 0;
  settings.is_member = [members = members_](const std::string& y) {
    return members->contains(y);
  };
  settings.limits = options_.limits;
  settings.adoption_time = options_.adoption_time;
  settings.log = options_.log;
  runner = std::make_unique<network_runner>(
    loop_, context_, std::move(settings), *this, options_.own_progress);
}

void network_set::on_listening(const std::string& network,
                               std::vector<node_address> addresses) {
  awaited_.erase(network);
  auto& known = listening_[network];
  if (known != addresses) {
    known = std::move(addresses);
    is_told_ = false;
    if (ports_.size() > ports_max)
      ports_.clear();
    for (const auto& x : known)
      ports_[x.address] = x.port;
  }
  if (awaited_.empty() && !is_told_ && !is_comparing_)
    tell_addresses();
}

uint16_t network_set::port_of(const std::string& address) const {
  const auto i = ports_.find(address);
  return i != ports_.end() ? i->second : uint16_t{0};
}

void network_set::tell_addresses() {
  is_told_ = true;
  networks_changed x;
  for (const auto& [name, addresses] : listening_)
    x.addresses.insert(x.addresses.end(), addresses.begin(), addresses.end());
  // First what leads to most.
  std::stable_partition(
    x.addresses.begin(), x.addresses.end(),
    [](const auto& y) { return lane_kind_of(y.address) == lane_kind::tcp; });
  self_->send(options_.owner, std::move(x));
}

void network_set::with(const std::string& name,
                       std::function<void(network&)> f) {
  if (const auto i = networks_.find(name); i != networks_.end())
    i->second->run(std::move(f));
}

// -- nodes -------------------------------------------------------------------

void network_set::reach(const reach_node& node) {
  reach_.reach(node, own_);
  note_members();
}

void network_set::note_members() {
  members_->assign(reach_.addresses());
}

void network_set::release(uint32_t rank) {
  reach_.release(rank);
  note_members();
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
    const auto path = lane_path{{end.from, {}}, end.to, end.port};
    with(network, [=](class network& x) { x.dial(id, path, peer, patience); });
  };
  result.give_up = [this](dial_id id, const std::string& network) {
    with(network, [id](class network& x) { x.give_up(id); });
  };
  result.report = [this](lane_failed x) {
    self_->send(options_.owner, std::move(x));
  };
  result.route = [this](const std::string& address) {
    return route_to(address);
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

/// A user is asked whether it keeps up after so many bytes, and a lane is not
/// read while so many questions are open.
constexpr size_t question_bytes = size_t{256} << 10;
constexpr size_t questions_max = 2;

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

// -- the actor ---------------------------------------------------------------

networks_state::networks_state() = default;

networks_state::~networks_state() = default;

networks_actor::behavior_type
networks(networks_actor::stateful_pointer<networks_state> self,
         event_loop* loop, std::shared_ptr<const secure_context> context,
         networks_options options) {
  auto log = options.log;
  self->state.networks = std::make_unique<network_set>(
    self, *loop, std::move(context), std::move(options));
  auto* set = self->state.networks.get();
  self->set_down_handler(
    [set](const caf::down_msg& x) { set->abandon(x.source); });
  if (auto err = set->start()) {
    if (log)
      log(severity::error, reason_of(err));
    self->quit(err);
  }
  return {
    // What comes most often: CAF tries one after another.
    [set](const put_lane_frame& x) { set->put(x); },
    [set](const reach_node& x) { set->reach(x); },
    [set](const release_node& x) { set->release(x.rank); },
    [set](lane_id lane, const lane_user_actor& user) {
      set->adopt(lane, user);
    },
    [set](const drop_lane& x) { set->drop(x); },
  };
}

} // namespace troupe
