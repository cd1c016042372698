// What the NETWORKS actor bounds and refuses, and with threads of its own.

#include "adapters/lane/lane_connector.hpp"
#include "tests/adapters/networks/world.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <list>

using namespace troupe;
using namespace troupe::fixtures;

CAF_TEST_FIXTURE_SCOPE(networks_limits_tests, two_nodes)

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
  const auto bare = [](const lane_frame& x) {
    return encoded(x, frame_check::bare);
  };
  auto of_no_class = bare(some_data(1, "whole"));
  of_no_class[frame_header_size + 8] = traffic_classes;
  const std::string attacks[] = {
    "GET / HTTP/1.1\r\n\r\n",
    std::string(64, '\0'),
    std::string(100'000, '\xff'),
    bare(some_data(1, "good")) + "and then not",
    of_no_class,
    // With a checksum, as nobody has agreed on it.
    encoded(some_data(1, "whole")),
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
  CAF_CHECK(wait([&] { return two->logged("refused"); }));
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
  // All of it may wait with the sender, however late the receiver is: a lane
  // on which more waits is cut.
  constexpr size_t count = 25'000;
  const auto text = std::string(1000, 'a');
  CAF_REQUIRE(count * encoded(some_data(0, text)).size()
              <= defaults::lane_queued);
  for (size_t i = 0; i < count; ++i)
    one->put(x, some_data(i, text));
  CAF_REQUIRE(wait([&] { return y.frames.size() == count; }));
  for (size_t i = 0; i < count; ++i)
    CAF_REQUIRE_EQUAL(std::get<data_frame>(y.frames[i]).number, i);
}

CAF_TEST_FIXTURE_SCOPE_END()
