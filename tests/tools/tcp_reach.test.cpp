// Whether nodes reach each other, and what names mean.

#include "tools/tcp_reach.hpp"

#include "tests/test.hpp"
#include "tools/call_apart.hpp"

#include <algorithm>

using namespace troupe;
using namespace std::chrono_literals;

CAF_TEST(OPS-D5 a port that is open is reached and one that is not is not) {
  auto port = open_any_port(4);
  CAF_REQUIRE(port.number != 0);
  const auto here = network_place{"127.0.0.1", port.number};
  auto got = try_to_reach({here, {"n1", 1}, here, {"1.2.3", 1}}, 60s);
  CAF_REQUIRE_EQUAL(got.size(), 4u);
  CAF_CHECK_EQUAL(got[0].trouble, "");
  CAF_CHECK_EQUAL(got[1].trouble, "no numeric address");
  CAF_CHECK_EQUAL(got[2].trouble, "");
  CAF_CHECK_EQUAL(got[3].trouble, "no numeric address");
  port.fd.reset();
  got = try_to_reach({here}, 60s);
  CAF_CHECK_EQUAL(got.at(0).trouble, "Connection refused");
  CAF_CHECK(try_to_reach({}, 60s).empty());
}

CAF_TEST(OPS-D5 a node has an address even without a network) {
  const auto got = look_at_networks();
  CAF_CHECK(!got.addresses.empty());
  const auto places = try_to_reach({{got.addresses.front(), 1}}, 60s);
  CAF_CHECK(places.at(0).trouble != "no numeric address");
}

CAF_TEST(OPS-D5 names are looked up together and in their order) {
  const auto got = resolve({"127.0.0.1", "::1", "10.0.0.7"}, 60s);
  CAF_REQUIRE_EQUAL(got.size(), 3u);
  CAF_CHECK_EQUAL(got[0].name, "127.0.0.1");
  CAF_CHECK(got[0].addresses == std::vector<std::string>{"127.0.0.1"});
  CAF_CHECK(got[1].addresses == std::vector<std::string>{"::1"});
  CAF_CHECK(got[2].trouble.empty());
  CAF_CHECK(resolve({}, 60s).empty());
}

CAF_TEST(OPS-D5 a call that does not return is left alone) {
  auto go = std::promise<int>{};
  auto call = call_apart([x = go.get_future().share()] { return x.get(); });
  CAF_CHECK(call.wait_for(0s) == std::future_status::timeout);
  go.set_value(7);
  CAF_CHECK_EQUAL(call.get(), 7);
}
