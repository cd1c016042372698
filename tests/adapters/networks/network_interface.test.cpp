#include "adapters/networks/network_kernel.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

network_interface link(std::string name, std::string address) {
  network_interface result;
  result.name = std::move(name);
  result.is_running = true;
  result.addresses.push_back({std::move(address)});
  return result;
}

std::vector<std::string> names(const std::vector<own_network>& xs) {
  std::vector<std::string> result;
  for (const auto& x : xs)
    result.push_back(x.name);
  return result;
}

struct fixture {
  fixture() {
    all = {link("lo", "127.0.0.1"), link("eth0", "10.0.0.1"),
           link("eth1", "10.1.0.1"), link("docker0", "172.17.0.1")};
    all[0].is_loopback = true;
    all[3].is_internal = true;
  }

  std::vector<std::string> chosen(interface_choice choice = {}) {
    return names(choose_networks(all, choice));
  }

  using list = std::vector<std::string>;

  std::vector<network_interface> all;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(network_interface_tests, fixture)

CAF_TEST(O5 O9 all networks that lead to other nodes are used) {
  CAF_CHECK_EQUAL(chosen(), (list{"eth0", "eth1"}));
}

CAF_TEST(O4 a network that is down or has no address is not) {
  all[1].is_running = false;
  CAF_CHECK_EQUAL(chosen(), (list{"eth1"}));
  all[2].addresses.clear();
  // Then those of this node only, and loopback last.
  CAF_CHECK_EQUAL(chosen(), (list{"docker0"}));
  all[3].is_running = false;
  CAF_CHECK_EQUAL(chosen(), (list{"lo"}));
  all[0].is_running = false;
  CAF_CHECK(chosen().empty());
}

CAF_TEST(O9 names decide) {
  CAF_CHECK_EQUAL(chosen({{"lo", "docker0"}, {}}), (list{"lo", "docker0"}));
  CAF_CHECK_EQUAL(chosen({{}, {"eth0"}}), (list{"eth1"}));
  CAF_CHECK(chosen({{"eth7"}, {}}).empty());
  CAF_CHECK(chosen({{"eth0"}, {"eth0"}}).empty());
}

CAF_TEST(O9 L2 one address of each family is listened on) {
  all[1].addresses = {{"fe80::1", true, true},
                      {"fd00::77", true, false, true, true},
                      {"fd00::1", true},
                      {"fd00::2", true},
                      {"10.0.0.1"},
                      {"10.0.0.9"}};
  const auto x = choose_networks(all, {})[0];
  CAF_CHECK_EQUAL(x.listening, (list{"10.0.0.1", "fd00::1"}));
  CAF_CHECK_EQUAL(x.addresses.size(), 6U);
  // One that is being checked for duplicates is not ready.
  all[1].addresses = {{"fd00::1", true, false, false}};
  CAF_CHECK_EQUAL(chosen(), (list{"eth1"}));
}

CAF_TEST_FIXTURE_SCOPE_END()
