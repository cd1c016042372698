#include "adapters/networks/reach_table.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <map>

using namespace troupe;

namespace {

/// A node with two networks, and a kernel with a route for each of them.
struct fixture {
  std::vector<own_network> own = {
    {"eth0", 1, false, {"10.0.0.1", "fd00::1"}, {"10.0.0.1", "fd00::1"}},
    {"eth1", 2, false, {"10.1.0.1"}, {"10.1.0.1"}},
  };

  std::map<std::string, network_route> routes = {
    {"10.0.0.2", {1, "10.0.0.1", false}},
    {"fd00::2", {1, "fd00::1", false}},
    {"10.1.0.2", {2, "10.1.0.1", false}},
    {"192.168.0.2", {9, "192.168.0.1", false}},
    {"10.0.0.1", {99, "10.0.0.1", true}},
    {"10.1.0.1", {99, "10.1.0.1", true}},
  };

  reach_plan plan(std::vector<node_address> addresses) {
    return plan_reach(
      {2, "n2", std::move(addresses)}, own,
      [this](const std::string& x) -> caf::expected<network_route> {
        const auto i = routes.find(x);
        if (i == routes.end())
          return make_error(status::unreach, "no route");
        return i->second;
      });
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(reach_plan_tests, fixture)

CAF_TEST(O5 O10 each network that leads to the peer is a path) {
  const auto x = plan({{"a", "10.0.0.2", 1}, {"b", "10.1.0.2", 2}});
  CAF_REQUIRE_EQUAL(x.paths.size(), 2U);
  CAF_CHECK_EQUAL(x.paths[0].network, "eth0");
  CAF_CHECK_EQUAL(x.paths[0].peer_network, "a");
  CAF_CHECK(
    (x.paths[0].ends == std::vector<reach_end>{{"10.0.0.1", "10.0.0.2", 1}}));
  CAF_CHECK_EQUAL(x.paths[1].network, "eth1");
  CAF_CHECK(x.failures.empty());
}

CAF_TEST(O9 L2 two addresses of one network are one path) {
  const auto x = plan({{"a", "10.0.0.2", 1}, {"a", "fd00::2", 2}});
  CAF_REQUIRE_EQUAL(x.paths.size(), 1U);
  CAF_CHECK((x.paths[0].ends
             == std::vector<reach_end>{{"10.0.0.1", "10.0.0.2", 1},
                                       {"fd00::1", "fd00::2", 2}}));
}

CAF_TEST(O10 two networks of the peer behind one of ours are two paths) {
  routes["10.1.0.2"] = {1, "10.0.0.1", false};
  const auto x = plan({{"a", "10.0.0.2", 1}, {"b", "10.1.0.2", 2}});
  CAF_REQUIRE_EQUAL(x.paths.size(), 2U);
  CAF_CHECK_EQUAL(x.paths[1].network, "eth0");
  CAF_CHECK_EQUAL(x.paths[1].peer_network, "b");
}

CAF_TEST(O10 an address that both nodes have is passed over) {
  const auto x = plan({{"docker0", "10.1.0.1", 7}, {"a", "10.0.0.2", 1}});
  CAF_REQUIRE_EQUAL(x.paths.size(), 1U);
  CAF_CHECK_EQUAL(x.paths[0].peer_network, "a");
  CAF_CHECK(x.failures.empty());
}

CAF_TEST(O10 a node with our addresses only is on this host) {
  const auto x = plan({{"eth0", "10.0.0.1", 7}, {"eth1", "10.1.0.1", 8}});
  CAF_REQUIRE_EQUAL(x.paths.size(), 2U);
  CAF_CHECK_EQUAL(x.paths[0].network, "eth0");
  CAF_CHECK(
    (x.paths[0].ends == std::vector<reach_end>{{"10.0.0.1", "10.0.0.1", 7}}));
}

CAF_TEST(L4 O12 what cannot be reached is named unless its network is) {
  auto x = plan({{"a", "10.0.0.2", 1}, {"c", "172.16.0.2", 3}});
  CAF_CHECK_EQUAL(x.paths.size(), 1U);
  CAF_REQUIRE_EQUAL(x.failures.size(), 1U);
  CAF_CHECK_EQUAL(x.failures[0].address, "172.16.0.2");
  CAF_CHECK_EQUAL(x.failures[0].reason, "no route");
  x = plan({{"a", "10.0.0.2", 1}, {"a", "fd99::2", 3}});
  CAF_CHECK(x.failures.empty());
  // An interface that is there, but that lanes do not use.
  x = plan({{"m", "192.168.0.2", 4}});
  CAF_REQUIRE_EQUAL(x.failures.size(), 1U);
  CAF_CHECK(x.failures[0].reason.find("name its interface")
            != std::string::npos);
}

CAF_TEST(O12 O16 L3 each kind of lanes has routes of its own) {
  own.push_back({"unix", -1, true, {"@here"}, {"@here"}});
  routes["@there"] = {-1, "@here", false};
  auto x = plan({{"a", "10.0.0.2", 1}, {"unix", "@there", 0}});
  CAF_REQUIRE_EQUAL(x.paths.size(), 2U);
  CAF_CHECK_EQUAL(x.paths[1].network, "unix");
  CAF_CHECK(
    (x.paths[1].ends == std::vector<reach_end>{{"@here", "@there", 0}}));
  // On another machine there is no such lane, and nobody misses it.
  x = plan({{"a", "10.0.0.2", 1}, {"unix", "@elsewhere", 0}});
  CAF_REQUIRE_EQUAL(x.paths.size(), 1U);
  CAF_CHECK_EQUAL(x.paths[0].network, "eth0");
  CAF_CHECK(x.failures.empty());
  // It does not hide that TCP has no way.
  x = plan({{"c", "172.16.0.2", 3}, {"unix", "@there", 0}});
  CAF_CHECK_EQUAL(x.paths.size(), 1U);
  CAF_CHECK_EQUAL(x.failures.size(), 1U);
  // A node of this host is known by its other addresses.
  x = plan({{"eth0", "10.0.0.1", 7}, {"unix", "@there", 0}});
  CAF_CHECK_EQUAL(x.paths.size(), 2U);
}

CAF_TEST(X44 a list of very many addresses is cut) {
  std::vector<node_address> many(100'000, {"c", "172.16.0.2", 3});
  CAF_CHECK_EQUAL(plan(many).failures.size(), 64U);
}

CAF_TEST_FIXTURE_SCOPE_END()
