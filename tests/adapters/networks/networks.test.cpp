#include "adapters/networks/networks.hpp"

#include "adapters/lane/lane_connector.hpp"
#include "tests/adapters/networks/world.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <list>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture : mesh_world {
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

} // namespace

CAF_TEST_FIXTURE_SCOPE(networks_tests, fixture)

CAF_TEST(O5 O9 a node says where it takes lanes and takes them) {
  begin();
  CAF_REQUIRE_EQUAL(two->addresses().size(), 1U);
  CAF_CHECK_EQUAL(two->addresses()[0].network, "eth1");
  CAF_CHECK_EQUAL(two->addresses()[0].address, "127.0.1.2");
  CAF_CHECK(two->addresses()[0].port != 0);
  connect();
  const auto& x = one->lanes.front().opened;
  const auto& y = two->lanes.front().opened;
  CAF_CHECK_EQUAL(x.rank, 2U);
  CAF_CHECK_EQUAL(x.name, "n2");
  CAF_CHECK_EQUAL(x.network, "eth1");
  CAF_CHECK_EQUAL(x.local, "127.0.1.1");
  CAF_CHECK_EQUAL(x.remote, "127.0.1.2");
  CAF_CHECK(x.is_dialled);
  CAF_CHECK_EQUAL(y.rank, 1U);
  CAF_CHECK_EQUAL(y.name, "n1");
  CAF_CHECK_EQUAL(y.remote, "127.0.1.1");
  CAF_CHECK(!y.is_dialled);
  CAF_CHECK(works());
  CAF_CHECK(one->failures.empty());
}

CAF_TEST(LINK-1 L7 many frames go both ways in order) {
  begin();
  connect();
  constexpr size_t count = 100'000;
  two->echoes = true;
  auto& x = *one->live().front();
  auto& y = *two->live().front();
  // In portions, as a session with a window would.
  size_t sent = 0;
  CAF_CHECK(wait(
    [&] {
      for (; sent < count && sent < x.frames.size() + 5000; ++sent)
        one->put(x, some_data(sent, std::string(sent % 100, 'a')));
      return x.frames.size() == count;
    },
    50s));
  CAF_REQUIRE_EQUAL(y.frames.size(), count);
  for (size_t i = 0; i < count; ++i) {
    const auto expected = some_data(i, std::string(i % 100, 'a'));
    CAF_REQUIRE(is_same(x.frames[i], expected));
    CAF_REQUIRE(is_same(y.frames[i], expected));
  }
  CAF_CHECK_EQUAL(x.late + y.late, 0U);
}

CAF_TEST(LIM22 frames of every kind and size arrive as they were) {
  begin();
  connect();
  auto frames = some_frames();
  for (const size_t size : {1UL, 4095UL, 16383UL, 16384UL, 16385UL, 70'000UL,
                            defaults::lane_frame - 4096})
    frames.push_back(some_data(size, std::string(size, 'z')));
  auto& x = *one->live().front();
  auto& y = *two->live().front();
  for (const auto& f : frames)
    one->put(x, f);
  CAF_REQUIRE(wait([&] { return y.frames.size() == frames.size(); }));
  for (size_t i = 0; i < frames.size(); ++i)
    CAF_CHECK(is_same(y.frames[i], frames[i]));
}

CAF_TEST(O4 a lane that its user drops ends on both sides and comes again) {
  begin();
  connect();
  CAF_CHECK(works());
  auto& x = one->lanes.front();
  one->put(x, some_data(9, "last"));
  caf::anon_send(one->networks, drop_lane{x.opened.lane, "too slow"});
  CAF_REQUIRE(wait([&] { return x.end && two->lanes.front().end; }));
  CAF_CHECK_EQUAL(*x.end, "too slow");
  // What was put before arrives; nothing comes after the end.
  CAF_CHECK_EQUAL(two->lanes.front().frames.size(), 2U);
  CAF_CHECK_EQUAL(two->lanes.front().late, 0U);
  CAF_REQUIRE(wait([&] { return one->lanes.size() == 2; }));
  CAF_REQUIRE(wait([&] { return two->lanes.size() == 2; }));
  CAF_CHECK(works());
}

CAF_TEST(L1 a node that is not there yet is reached once it is) {
  begin();
  const auto there = two->addresses();
  two.reset();
  caf::anon_send(one->networks, reach_node{2, "n2", there});
  CAF_REQUIRE(wait([&] { return !one->failures.empty(); }));
  CAF_CHECK_EQUAL(one->failures[0].rank, 2U);
  CAF_CHECK_EQUAL(one->failures[0].address, "127.0.1.2");
  CAF_MESSAGE(one->failures[0].reason);
  CAF_CHECK(one->failures[0].reason.find("Connection refused")
            != std::string::npos);
  CAF_CHECK(one->failures[0].reason.find("daemon runs") != std::string::npos);
  run_for(400ms);
  CAF_CHECK_EQUAL(one->failures.size(), 1U); // At most one a second.
  networks_options options;
  options.port = there[0].port;
  two.emplace(sys, issuer, 2, std::vector<int>{1}, options);
  CAF_CHECK(wait([&] { return one->live().size() == 1; }, 5s));
}

CAF_TEST(L1 a lane that is lost is dialled again) {
  begin();
  connect();
  const auto there = two->addresses();
  two->end();
  CAF_REQUIRE(wait([&] { return one->live().empty(); }));
  networks_options options;
  options.port = there[0].port;
  two.reset();
  two.emplace(sys, issuer, 2, std::vector<int>{1}, options);
  CAF_REQUIRE(wait([&] { return !one->live().empty(); }, 5s));
  CAF_REQUIRE(wait([&] { return !two->live().empty(); }));
  CAF_CHECK(works());
}

CAF_TEST(O2 O5 two networks give two lanes) {
  begin({1, 2}, {1, 2});
  connect(2);
  CAF_CHECK(one->over("eth1") != nullptr);
  CAF_CHECK(one->over("eth2") != nullptr);
  CAF_CHECK_EQUAL(one->over("eth2")->opened.remote, "127.0.2.2");
  run_for(300ms);
  CAF_CHECK_EQUAL(one->lanes.size(), 2U);
}

CAF_TEST(O4 P-N1 lanes of an interface that goes down end at once) {
  begin({1, 2}, {1, 2});
  connect(2);
  auto* gone = one->over("eth2");
  one->kernel->link(2).is_running = false;
  const auto begin = std::chrono::steady_clock::now();
  one->kernel->on_change();
  CAF_REQUIRE(wait([&] { return gone->end.has_value(); }));
  CAF_CHECK(std::chrono::steady_clock::now() - begin < 50ms);
  CAF_CHECK_EQUAL(*gone->end, "network eth2 is down");
  CAF_CHECK(one->over("eth1") != nullptr);
  CAF_CHECK_EQUAL(one->addresses().size(), 1U);
  // The other end hears of it from this one.
  CAF_CHECK(wait([&] { return two->live().size() == 1; }));
  run_for(200ms);
  CAF_CHECK_EQUAL(one->live().size(), 1U);
  // It comes back: both listen and dial again at once.
  one->kernel->link(2).is_running = true;
  one->kernel->on_change();
  CAF_CHECK(wait([&] { return one->over("eth2") != nullptr; }, 1s));
  CAF_CHECK_EQUAL(one->addresses().size(), 2U);
}

CAF_TEST(O4 O9 lanes of an address that is removed end at once) {
  begin({1, 2}, {1, 2});
  connect(2);
  auto* gone = two->over("eth2");
  two->kernel->link(2).addresses = {{"127.0.2.77"}};
  two->kernel->on_change();
  CAF_REQUIRE(wait([&] { return gone->end.has_value(); }));
  CAF_CHECK_EQUAL(*gone->end, "address 127.0.2.2 is gone from network eth2");
  CAF_REQUIRE(wait([&] { return two->addresses().size() == 2; }));
  CAF_CHECK_EQUAL(two->addresses()[1].address, "127.0.2.77");
  // Who hears of the new address has a lane there.
  one->reach(*two);
  CAF_CHECK(wait([&] {
    auto* x = one->over("eth2");
    return x != nullptr && x->opened.remote == "127.0.2.77";
  }));
}

CAF_TEST(O12 a network that fails leaves the others alone) {
  begin({1, 2}, {1});
  auto there = two->addresses();
  there.push_back({"eth2", "127.0.2.2", 9});
  caf::anon_send(one->networks, reach_node{2, "n2", there});
  CAF_CHECK(wait([&] { return one->over("eth1") != nullptr; }));
  CAF_CHECK(wait([&] { return !one->failures.empty(); }));
  CAF_CHECK_EQUAL(one->failures[0].address, "127.0.2.2");
}

CAF_TEST(O10 L6 a peer in another subnet is reached by the route to it) {
  begin({1}, {3});
  one->kernel->fallback = network_route{1, "127.0.1.1", false};
  two->kernel->fallback = network_route{3, "127.0.3.2", false};
  connect();
  CAF_CHECK_EQUAL(one->lanes[0].opened.network, "eth1");
  CAF_CHECK_EQUAL(one->lanes[0].opened.remote, "127.0.3.2");
  CAF_CHECK_EQUAL(two->lanes[0].opened.network, "eth3");
}

CAF_TEST(L6 a route that comes up is used at once) {
  begin({1}, {3});
  one->reach(*two);
  CAF_REQUIRE(wait([&] { return !one->failures.empty(); }));
  CAF_CHECK_EQUAL(one->failures[0].reason, "no route to 127.0.3.2");
  one->kernel->fallback = network_route{1, "127.0.1.1", false};
  one->kernel->on_change();
  CAF_CHECK(wait([&] { return one->live().size() == 1; }, 1s));
}

CAF_TEST(L2 lanes go over IPv6 as over IPv4) {
  networks_options options;
  one.emplace(sys, issuer, 1, std::vector<int>{1}, options);
  two.emplace(sys, issuer, 2, std::vector<int>{}, options);
  for (auto* x : {&*one, &*two}) {
    x->kernel->links = {link_of(x->rank, 5)};
    x->kernel->links[0].addresses = {{"::1", true}};
    CAF_REQUIRE(wait([&] { return !x->changes.empty(); }));
    x->kernel->on_change();
    CAF_REQUIRE(wait([&] {
      return x->addresses().size() == 1 && x->addresses()[0].address == "::1";
    }));
  }
  // Both have the same address: they are on one host.
  one->kernel->fallback = network_route{0, "::1", true};
  connect();
  CAF_CHECK_EQUAL(one->lanes[0].opened.remote, "::1");
  CAF_CHECK(works());
}

CAF_TEST(O12 L2 the other family is tried when one does not lead there) {
  begin({1}, {1});
  auto there = two->addresses();
  there.insert(there.begin(), {"eth1", "127.0.1.9", 9});
  caf::anon_send(one->networks, reach_node{2, "n2", there});
  CAF_CHECK(wait([&] { return one->live().size() == 1; }));
  // One lane for the two addresses of one network.
  run_for(200ms);
  CAF_CHECK_EQUAL(one->lanes.size(), 1U);
}

CAF_TEST(LIM24 a node is not dialled where it has dialled us) {
  begin();
  connect();
  two->reach(*one);
  run_for(300ms);
  CAF_CHECK_EQUAL(two->lanes.size(), 1U);
  CAF_CHECK_EQUAL(one->lanes.size(), 1U);
}

CAF_TEST(O18 a node that is released is left alone) {
  begin();
  connect();
  caf::anon_send(one->networks, release_node{2});
  CAF_REQUIRE(wait([&] { return one->live().empty() && two->live().empty(); }));
  run_for(300ms);
  CAF_CHECK_EQUAL(one->lanes.size(), 1U);
  CAF_CHECK(one->failures.empty());
}

CAF_TEST(LIM1 a lane that nobody adopts is closed) {
  networks_options options;
  options.adoption_time = 100ms;
  begin({1}, {1}, options);
  two->adopts = false;
  one->reach(*two);
  CAF_REQUIRE(wait([&] { return !two->unadopted.empty(); }));
  CAF_CHECK_EQUAL(two->unadopted[0].reason,
                  "nobody has adopted it within 100 ms");
  CAF_CHECK(wait([&] { return one->lanes.front().end.has_value(); }));
}

CAF_TEST(X38 nothing is read from a lane before it is adopted) {
  begin();
  two->adopts = false;
  one->reach(*two);
  CAF_REQUIRE(
    wait([&] { return one->live().size() == 1 && !two->ignored.empty(); }));
  one->put(one->lanes.front(), some_data(1, "early"));
  run_for(100ms);
  two->adopts = true;
  two->take(two->ignored.front());
  CAF_REQUIRE(wait([&] { return two->lanes.front().frames.size() == 1; }));
}

CAF_TEST(L1 lanes end with their user) {
  begin();
  connect();
  caf::anon_send_exit(one->user, caf::exit_reason::kill);
  CAF_CHECK(wait([&] { return two->live().empty(); }));
}

CAF_TEST(LIM20 lanes to one node are bounded) {
  networks_options options;
  options.lanes_per_peer = 2;
  begin({1, 2, 3}, {1, 2, 3}, options);
  connect(2);
  run_for(200ms);
  CAF_CHECK_EQUAL(one->lanes.size(), 2U);
  CAF_CHECK_EQUAL(two->lanes.size(), 2U);
}

CAF_TEST(LINK-2 a user that does not keep up is not flooded) {
  begin();
  connect();
  auto& y = two->lanes.front();
  size_t taken = 0;
  auto slow = sys.actors().spawn(
    [&taken](lane_user_actor::pointer self) -> lane_user_actor::behavior_type {
      return {[self, &taken](const lane_frame_arrived&) {
                ++taken;
                // A question that is never answered keeps the sender waiting.
                return self->make_response_promise<void>();
              },
              [](const lane_closed&) {}};
    });
  caf::anon_send(two->networks, y.opened.lane, slow);
  auto& x = one->lanes.front();
  for (auto i = 0; i < 20'000; ++i)
    one->put(x, some_data(static_cast<uint64_t>(i), std::string(256, 'f')));
  run_for(500ms);
  CAF_MESSAGE(taken << " frames of 20000 were read");
  CAF_CHECK(taken > 500U);
  CAF_CHECK(taken < 4000U);
  CAF_CHECK(!x.end);
  caf::anon_send_exit(slow, caf::exit_reason::user_shutdown);
  CAF_CHECK(wait([&] { return x.end.has_value(); }));
}

CAF_TEST(X39 X43 a node that sends what is no frame loses its lane) {
  begin();
  // A member of the DVM, but not of our making.
  const auto context = context_of(issuer, 3);
  const auto& there = two->addresses()[0];
  const std::string attacks[] = {
    "GET / HTTP/1.1\r\n\r\n",
    std::string(64, '\0'),
    std::string(100'000, '\xff'),
    encoded(some_data(1, "good")) + "and then not",
    encoded(some_data(1, "whole")).substr(0, 30) + std::string(40, 'x'),
  };
  size_t taken = 0;
  for (const auto& bytes : attacks) {
    std::optional<lane_end> end;
    lane_connector dial{sys.loop(),
                        *context,
                        {{"127.0.1.3", {}}, there.address, there.port},
                        node(2),
                        {},
                        [&](caf::expected<secure_channel> x) {
                          if (x)
                            end.emplace(sys.loop(), std::move(*x));
                        }};
    CAF_REQUIRE(wait([&] { return end.has_value(); }));
    end->socket.send(bytes);
    CAF_REQUIRE(wait([&] { return end->ends == 1; }));
    ++taken;
    CAF_REQUIRE_EQUAL(two->lanes.size(), taken);
    CAF_CHECK(wait([&] { return two->lanes.back().end.has_value(); }));
    CAF_CHECK(two->lanes.back().end->find("not a frame") != std::string::npos);
    CAF_MESSAGE(*two->lanes.back().end);
    // Only what was whole before has been given out.
    CAF_CHECK_EQUAL(two->lanes.back().frames.size(), taken == 4 ? 1U : 0U);
  }
  // Others are not hurt.
  connect();
}

CAF_TEST(X36 X37 strangers get no lane and members still do) {
  begin();
  const auto& there = two->addresses()[0];
  std::list<unique_fd> crowd;
  for (auto i = 0; i < 300; ++i) {
    auto fd = begin_connect({"127.0.0.1", {}}, there.address, there.port);
    CAF_REQUIRE(fd);
    if (i % 2 == 0)
      ::send(fd->get(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL);
    crowd.push_back(std::move(*fd));
  }
  connect();
  CAF_CHECK(works());
  CAF_CHECK_EQUAL(two->lanes.size(), 1U);
  CAF_CHECK(two->logged("refused"));
}

CAF_TEST(X45 without security only loopback is used) {
  const auto context = [](uint32_t rank) {
    return value_of(secure_context::make_insecure(node(rank)));
  };
  // The interface is not one of loopback: the actor ends.
  one.emplace(sys, issuer, 1, std::vector<int>{1}, networks_options{},
              context(1));
  CAF_REQUIRE(wait([&] { return one->logged("without security"); }));
  CAF_CHECK(one->logged("--insecure"));
  CAF_CHECK(one->changes.empty());
  // Between addresses of loopback it works as with security.
  std::deque<mesh_node> nodes;
  for (const uint32_t rank : {1, 2}) {
    auto kernel = std::make_shared<scripted_kernel>();
    kernel->links = {link_of(rank, 1), link_of(rank, 2)};
    kernel->links[0].is_loopback = true;
    networks_options options;
    options.kernel = kernel;
    nodes.emplace_back(sys, issuer, rank, std::vector<int>{}, options,
                       context(rank));
  }
  CAF_REQUIRE(wait(
    [&] { return !nodes[0].changes.empty() && !nodes[1].changes.empty(); }));
  CAF_CHECK_EQUAL(nodes[0].addresses().size(), 1U);
  nodes[0].reach(nodes[1]);
  CAF_REQUIRE(wait([&] { return nodes[1].live().size() == 1; }));
  CAF_REQUIRE(wait([&] { return nodes[0].live().size() == 1; }));
  CAF_CHECK_EQUAL(nodes[1].lanes[0].opened.name, "n1");
  for (uint64_t i = 0; i < 3000; ++i)
    nodes[0].put(nodes[0].lanes[0], some_data(i, std::string(i, 'p')));
  CAF_REQUIRE(wait([&] { return nodes[1].lanes[0].frames.size() == 3000; }));
  for (uint64_t i = 0; i < 3000; ++i)
    CAF_REQUIRE(
      is_same(nodes[1].lanes[0].frames[i], some_data(i, std::string(i, 'p'))));
  // A secure node does not talk to them, nor they to it.
  two.emplace(sys, issuer, 2);
  CAF_REQUIRE(wait([&] { return !two->changes.empty(); }));
  caf::anon_send(nodes[0].networks, reach_node{3, "n3", two->addresses()});
  caf::anon_send(two->networks, reach_node{1, "n1", nodes[0].addresses()});
  CAF_CHECK(wait([&] { return !two->failures.empty(); }));
  CAF_CHECK(wait([&] { return !nodes[0].failures.empty(); }));
  CAF_CHECK(two->lanes.empty());
  CAF_CHECK_EQUAL(nodes[0].lanes.size(), 1U);
  // Another DVM, another node, or no identity: refused.
  const auto& there = nodes[1].addresses()[0];
  const std::string lies[] = {"troupe-plain-1 troupe:other/1/n1\n",
                              "troupe-plain-1 troupe:dvm/1\n", "hello\n",
                              std::string(1000, 'x')};
  for (const auto& x : lies) {
    auto fd = begin_connect({"127.0.0.1", {}}, there.address, there.port);
    CAF_REQUIRE(fd);
    auto sent = false;
    CAF_CHECK(wait([&] {
      sent = sent
             || ::send(fd->get(), x.data(), x.size(), MSG_NOSIGNAL)
                  == static_cast<ssize_t>(x.size());
      char c = 0;
      const auto got = ::recv(fd->get(), &c, 1, MSG_DONTWAIT);
      return sent && (got == 0 || (got < 0 && errno == ECONNRESET));
    }));
  }
  CAF_CHECK_EQUAL(nodes[1].lanes.size(), 1U);
}

CAF_TEST(O8 each network may have progress of its own) {
  networks_options options;
  options.own_progress = true;
  begin({1, 2}, {1, 2}, options);
  CAF_CHECK_EQUAL(one->addresses().size(), 2U);
  connect(2);
  two->echoes = true;
  constexpr size_t count = 5000;
  for (const auto* name : {"eth1", "eth2"})
    for (size_t i = 0; i < count; ++i)
      one->put(*one->over(name), some_data(i, std::string(i % 1000, 'a')));
  CAF_REQUIRE(wait([&] {
    return one->over("eth1")->frames.size() == count
           && one->over("eth2")->frames.size() == count;
  }));
  for (const auto* name : {"eth1", "eth2"})
    for (size_t i = 0; i < count; ++i)
      CAF_REQUIRE(is_same(one->over(name)->frames[i],
                          some_data(i, std::string(i % 1000, 'a'))));
  // An interface that fails, and lanes that are dropped.
  auto* gone = one->over("eth2");
  one->kernel->link(2).is_running = false;
  one->kernel->on_change();
  CAF_REQUIRE(wait([&] { return gone->end.has_value(); }));
  CAF_CHECK(wait([&] { return two->live().size() == 1; }));
  one->kernel->link(2).is_running = true;
  one->kernel->on_change();
  CAF_CHECK(wait([&] { return one->over("eth2") != nullptr; }));
  caf::anon_send(one->networks,
                 drop_lane{one->over("eth1")->opened.lane, "test"});
  CAF_CHECK(wait([&] { return one->lanes.size() == 4; }));
}

CAF_TEST(O8 LINK-2 a network with its own progress reads no more than is taken) {
  networks_options options;
  options.own_progress = true;
  begin({1}, {1}, options);
  connect();
  auto& x = *one->live().front();
  auto& y = *two->live().front();
  for (size_t i = 0; i < 50'000; ++i)
    one->put(x, some_data(i, std::string(1000, 'a')));
  CAF_REQUIRE(wait([&] { return y.frames.size() == 50'000; }));
  for (size_t i = 0; i < 50'000; ++i)
    CAF_REQUIRE_EQUAL(std::get<data_frame>(y.frames[i]).number, i);
}

CAF_TEST_FIXTURE_SCOPE_END()
