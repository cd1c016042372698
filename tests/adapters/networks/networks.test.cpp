#include "adapters/networks/networks.hpp"

#include "adapters/networks/frame_lane.hpp"
#include "adapters/sockets/local_socket.hpp"
#include "config/defaults.hpp"
#include "tests/adapters/networks/world.hpp"

#include <sys/socket.h>

#include <algorithm>

using namespace troupe;
using namespace troupe::fixtures;

CAF_TEST_FIXTURE_SCOPE(networks_tests, two_nodes)

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
  // Those that wait and those that overtake them keep their order, each.
  for (auto* all : {&frames, &y.frames})
    std::stable_partition(all->begin(), all->end(), may_be_overtaken);
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

CAF_TEST(O5 O12 O16 nodes of one machine have a lane of each kind) {
  networks_options options;
  options.kinds = lane_kinds{};
  begin({1}, {1}, options);
  CAF_REQUIRE_EQUAL(two->addresses().size(), 2U);
  CAF_CHECK_EQUAL(two->addresses()[0].network, "eth1");
  CAF_CHECK_EQUAL(two->addresses()[1].network, "unix");
  CAF_CHECK_EQUAL(two->addresses()[1].port, 0U);
  connect(2);
  auto* x = one->over("unix");
  auto* y = two->over("unix");
  CAF_REQUIRE(x != nullptr && y != nullptr);
  CAF_CHECK_EQUAL(x->opened.name, "n2");
  CAF_CHECK_EQUAL(x->opened.local, one->addresses()[1].address);
  CAF_CHECK_EQUAL(x->opened.remote, two->addresses()[1].address);
  CAF_CHECK_EQUAL(y->opened.name, "n1");
  CAF_CHECK_EQUAL(y->opened.remote, one->addresses()[1].address);
  one->put(*x, some_data(1, std::string(300'000, 'p')));
  two->put(*y, some_data(2, "pong"));
  CAF_CHECK(wait([&] { return x->frames.size() + y->frames.size() == 2; }));
  CAF_CHECK(one->failures.empty());
}

CAF_TEST(O4 O14 a kind of lanes outlives another and each comes back) {
  networks_options options;
  options.kinds = lane_kinds{};
  begin({1}, {1}, options);
  connect(2);
  const auto have = [this](size_t lanes) {
    return wait([this, lanes] {
      return one->live().size() == lanes && two->live().size() == lanes;
    });
  };
  one->kernel->link(1).is_running = false;
  one->kernel->on_change();
  CAF_REQUIRE(have(1));
  CAF_CHECK(one->over("unix") != nullptr);
  CAF_CHECK(works());
  one->kernel->link(1).is_running = true;
  one->kernel->on_change();
  CAF_REQUIRE(have(2));
  const auto lost = one->over("unix")->opened.lane;
  caf::anon_send(one->networks, drop_lane{lost, "cut"});
  CAF_REQUIRE(wait([&] { return one->find(lost)->end.has_value(); }));
  CAF_CHECK(one->over("eth1") != nullptr);
  CAF_REQUIRE(have(2));
  CAF_CHECK(one->over("unix")->opened.lane != lost);
}

CAF_TEST(O16 L3 names of other machines lead nowhere and are no failure) {
  networks_options options;
  options.kinds = {false, true};
  begin({1}, {1}, options);
  CAF_REQUIRE_EQUAL(one->addresses().size(), 1U);
  auto elsewhere = two->addresses();
  auto& digit = elsewhere[0].address.at(std::string{"@troupe-lane."}.size());
  digit = digit == '0' ? '1' : '0';
  caf::anon_send(one->networks, reach_node{2, "n2", elsewhere});
  run_for(100ms);
  CAF_CHECK(one->lanes.empty());
  CAF_CHECK(one->failures.empty());
  connect(1);
  // One that is here, and where nobody listens any more, is a failure.
  two->end();
  CAF_REQUIRE(wait([&] { return !one->failures.empty(); }));
  CAF_CHECK_EQUAL(one->failures[0].reason.find("over unix: connect to @"), 0U);
}

CAF_TEST(X36 strangers of our user get no lane of the machine either) {
  networks_options options;
  options.kinds = lane_kinds{};
  begin({1}, {1}, options);
  auto name = make_local_name();
  CAF_REQUIRE(name);
  auto fd = connect_to_name(*name, two->addresses()[1].address);
  CAF_REQUIRE(fd);
  ::send(fd->get(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL);
  CAF_CHECK(wait([&] { return two->logged("refused"); }));
  connect(2);
  CAF_CHECK_EQUAL(two->lanes.size(), 2U);
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

CAF_TEST(O7 O12 a network that fails leaves the others alone) {
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

CAF_TEST_FIXTURE_SCOPE_END()
