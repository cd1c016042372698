#include "adapters/networks/network_kernel.hpp"

#include "adapters/loop/event_loop.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;

namespace {

struct fixture {
  fixture() {
    auto x = make_network_kernel(loop);
    CAF_REQUIRE(x);
    uut = std::move(*x);
  }

  event_loop loop;
  std::unique_ptr<network_kernel> uut;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(network_kernel_tests, fixture)

CAF_TEST(O10 the kernel tells of loopback and its addresses) {
  const auto all = uut->interfaces();
  CAF_REQUIRE(all);
  const auto lo = std::find_if(all->begin(), all->end(),
                               [](const auto& x) { return x.is_loopback; });
  CAF_REQUIRE(lo != all->end());
  CAF_CHECK_EQUAL(lo->name, "lo");
  CAF_CHECK(lo->is_running);
  CAF_CHECK(
    std::any_of(lo->addresses.begin(), lo->addresses.end(), [](const auto& x) {
      return x.address == "127.0.0.1" && !x.is_ipv6 && x.is_ready;
    }));
}

CAF_TEST(O10 L6 the kernel tells how an address is reached) {
  const auto own = uut->route_to("127.0.0.1");
  CAF_REQUIRE(own);
  CAF_CHECK(own->is_local);
  CAF_CHECK_EQUAL(own->source, "127.0.0.1");
  for (const auto* x : {"", "node7", "1.2.3", "fd00::zz", "0x7f000001"}) {
    const auto none = uut->route_to(x);
    CAF_REQUIRE(!none);
    CAF_CHECK(status_of(none.error()) == status::bad_param);
  }
}

CAF_TEST(O4 the kernel can be heard) {
  CAF_CHECK(!uut->watch([] {}));
}

CAF_TEST_FIXTURE_SCOPE_END()
