#include "adapters/networks/network_set.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "messages/status.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// Addresses whose ports are remembered.
constexpr size_t ports_max = 256;

} // namespace

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
  if (context_->is_insecure()) {
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
  compare(choose_networks(*all, options_.interfaces));
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
  settings.port = options_.port;
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

} // namespace troupe
