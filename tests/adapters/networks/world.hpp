#pragma once

// Nodes of one DVM with NETWORKS actors, all on one loop and on real sockets;
// what the kernel says of networks is up to the test. Nothing sleeps.

#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/networks/networks.hpp"
#include "tests/adapters/lane/nodes.hpp"
#include "tests/adapters/networks/frames.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::fixtures {
inline namespace mesh_networks {

using namespace std::chrono_literals;

/// A kernel that says what the test wants: routes lead over the interface whose
/// number is the third of an address `127.0.N.x`, or over `fallback`.
struct scripted_kernel : network_kernel {
  caf::expected<std::vector<network_interface>> interfaces() override {
    return links;
  }

  caf::expected<network_route> route_to(const std::string& to) override {
    ++questions;
    for (const auto& x : links)
      for (const auto& y : x.addresses)
        if (x.is_running && !y.is_ipv6
            && to.compare(0, 8, "127.0." + std::to_string(x.index) + ".") == 0)
          return network_route{x.index, y.address, false};
    for (const auto& x : links)
      for (const auto& y : x.addresses)
        if (x.is_running && y.is_ipv6 && to.find(':') != std::string::npos)
          return network_route{x.index, y.address, false};
    if (fallback)
      return *fallback;
    return make_error(status::unreach, "no route to " + to);
  }

  caf::error watch(std::function<void()> x) override {
    on_change = std::move(x);
    return caf::none;
  }

  network_interface& link(int index) {
    for (auto& x : links)
      if (x.index == index)
        return x;
    CAF_FAIL("no such link");
  }

  std::vector<network_interface> links;
  std::optional<network_route> fallback;
  std::function<void()> on_change;
  size_t questions = 0;
};

/// A network of a node: interface `eth<index>`, address `127.0.<index>.<rank>`.
inline network_interface link_of(uint32_t rank, int index) {
  network_interface result;
  result.index = index;
  result.name = "eth" + std::to_string(index);
  result.is_running = true;
  result.addresses.push_back(
    {"127.0." + std::to_string(index) + "." + std::to_string(rank)});
  return result;
}

/// What a lane has given.
struct lane_story {
  lane_opened opened;
  std::vector<lane_frame> frames;
  std::optional<std::string> end;

  /// Frames after the end.
  size_t late = 0;
};

/// A node: its NETWORKS, their owner, and the user of all its lanes.
struct mesh_node {
  mesh_node(loop_system& sys, const authority& issuer, uint32_t rank,
            std::vector<int> indices = {1}, networks_options options = {},
            context_ptr context = nullptr)
    : rank(rank), kernel(std::make_shared<scripted_kernel>()), sys_(sys) {
    for (const auto i : indices)
      kernel->links.push_back(link_of(rank, i));
    owner = sys.actors().spawn(
      [](lane_owner_actor::pointer self,
         mesh_node* x) -> lane_owner_actor::behavior_type {
        (void)self;
        return {[x](const lane_opened& y) { x->take(y); },
                [x](const lane_closed& y) { x->unadopted.push_back(y); },
                [x](const lane_failed& y) { x->failures.push_back(y); },
                [x](const networks_changed& y) {
                  x->changes.push_back(y.addresses);
                }};
      },
      this);
    user = sys.actors().spawn(
      [](lane_user_actor::pointer self,
         mesh_node* x) -> lane_user_actor::behavior_type {
        (void)self;
        return {[x](const lane_frame_arrived& y) { x->take(y); },
                [x](const lane_closed& y) {
                  if (auto* lane = x->find(y.lane))
                    lane->end = y.reason;
                }};
      },
      this);
    options.owner = owner;
    if (!options.kernel)
      options.kernel = kernel;
    options.random = [] { return uint64_t{0}; };
    options.log = [this](severity, const std::string& y) { log.push_back(y); };
    networks =
      sys.actors().spawn(troupe::networks, &sys.loop(),
                         context ? context : context_of(issuer, rank), options);
  }

  ~mesh_node() {
    end();
    caf::anon_send_exit(owner, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(user, caf::exit_reason::user_shutdown);
    pass();
  }

  /// As if the process had ended.
  void end() {
    if (networks)
      caf::anon_send_exit(networks, caf::exit_reason::user_shutdown);
    networks = nullptr;
    pass();
  }

  /// Lets actors handle what they have.
  void pass() {
    auto left = 8;
    std::function<void()> next = [&] {
      if (--left == 0)
        sys_.stop();
      else
        sys_.loop().post(next);
    };
    sys_.loop().post(next);
    sys_.run();
  }

  void take(const lane_opened& x) {
    if (!adopts) {
      ignored.push_back(x);
      return;
    }
    lanes.push_back({x, {}, {}, 0});
    caf::anon_send(networks, x.lane, user);
  }

  void take(const lane_frame_arrived& x) {
    auto* lane = find(x.lane);
    if (lane == nullptr)
      return;
    lane->late += lane->end ? 1 : 0;
    lane->frames.push_back(x.frame);
    if (echoes)
      caf::anon_send(networks, put_lane_frame{x.lane, x.frame});
  }

  lane_story* find(lane_id id) {
    for (auto& x : lanes)
      if (x.opened.lane == id)
        return &x;
    return nullptr;
  }

  /// Lanes that have not ended.
  std::vector<lane_story*> live() {
    std::vector<lane_story*> result;
    for (auto& x : lanes)
      if (!x.end)
        result.push_back(&x);
    return result;
  }

  /// The lane over a network that has not ended.
  lane_story* over(const std::string& network) {
    for (auto* x : live())
      if (x->opened.network == network)
        return x;
    return nullptr;
  }

  void reach(const mesh_node& other) {
    caf::anon_send(networks,
                   reach_node{other.rank, "n" + std::to_string(other.rank),
                              other.addresses()});
  }

  const std::vector<node_address>& addresses() const {
    static const std::vector<node_address> none;
    return changes.empty() ? none : changes.back();
  }

  void put(const lane_story& lane, lane_frame frame) {
    caf::anon_send(networks,
                   put_lane_frame{lane.opened.lane, std::move(frame)});
  }

  bool logged(const std::string& text) const {
    return std::any_of(log.begin(), log.end(), [&](const auto& x) {
      return x.find(text) != std::string::npos;
    });
  }

  uint32_t rank;
  std::shared_ptr<scripted_kernel> kernel;
  lane_owner_actor owner;
  lane_user_actor user;
  networks_actor networks;
  bool adopts = true;
  bool echoes = false;
  std::deque<lane_story> lanes;
  std::vector<lane_opened> ignored;
  std::vector<lane_closed> unadopted;
  std::vector<lane_failed> failures;
  std::vector<std::vector<node_address>> changes;
  std::vector<std::string> log;

private:
  loop_system& sys_;
};

/// The DVM.
struct mesh_world {
  /// Runs the loop until `done` holds.
  /// @returns whether it did in time.
  bool wait(const std::function<bool()>& done,
            std::chrono::nanoseconds limit = 20s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    auto is_done = false;
    timer look{sys.loop(), [&] {
                 is_done = done();
                 if (is_done || std::chrono::steady_clock::now() > end)
                   sys.stop();
                 else
                   look.start(200us);
               }};
    look.start(0ns);
    sys.run();
    return is_done;
  }

  /// Runs the loop for a while, to see that something does not happen.
  void run_for(std::chrono::nanoseconds length) {
    wait([] { return false; }, length);
  }

  authority issuer = value_of(authority::make("dvm"));
  loop_system sys;
};

/// Two nodes of it, as most tests need them.
struct two_nodes : mesh_world {
  /// Two nodes that have heard of each other's addresses; the first dials.
  void begin(std::vector<int> one_has = {1}, std::vector<int> two_has = {1},
             networks_options options = {}) {
    one.emplace(sys, issuer, 1, one_has, options);
    two.emplace(sys, issuer, 2, two_has, options);
    CAF_REQUIRE(
      wait([&] { return !one->changes.empty() && !two->changes.empty(); }));
  }

  void connect(size_t lanes = 1) {
    one->reach(*two);
    CAF_REQUIRE(wait([&] {
      return one->live().size() == lanes && two->live().size() == lanes;
    }));
  }

  /// Whether a frame goes each way over the only lane.
  bool works() {
    auto& x = *one->live().front();
    auto& y = *two->live().front();
    const auto before = std::pair{x.frames.size(), y.frames.size()};
    one->put(x, some_data(1, "ping"));
    two->put(y, some_data(2, "pong"));
    return wait([&] {
      return x.frames.size() == before.first + 1
             && y.frames.size() == before.second + 1;
    });
  }

  std::optional<mesh_node> one;
  std::optional<mesh_node> two;
};

} // namespace mesh_networks
} // namespace troupe::fixtures
