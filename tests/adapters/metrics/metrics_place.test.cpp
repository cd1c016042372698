// Where metrics are told.

#include "adapters/metrics/metrics_place.hpp"

#include "adapters/sockets/tcp_socket.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

std::string shown(const std::string& text) {
  const auto x = parse_metrics_place(text);
  if (!x) {
    CAF_CHECK(status_of(x.error()) == status::bad_param);
    CAF_CHECK(reason_of(x.error()).find("; write ADDRESS:PORT")
              != std::string::npos);
    return "refused";
  }
  return to_string(*x) + (x->is_for_any_node ? " anywhere" : "");
}

site_settings set(uint64_t port, bool is_local) {
  auto result = site_settings{};
  CAF_REQUIRE(!result.set(setting_id::metrics_port, port, "test"));
  CAF_REQUIRE(!result.set(setting_id::metrics_local, is_local ? 1 : 0, "test"));
  return result;
}

std::string where(const std::string& option, const site_settings& site) {
  const auto x = metrics_place_of(option, site);
  return !x ? "refused" : !*x ? "nowhere" : to_string(**x);
}

} // namespace

CAF_TEST(places are addresses of one node or those that any node has) {
  CAF_CHECK_EQUAL(shown("127.0.0.1:9466"), "127.0.0.1:9466 anywhere");
  CAF_CHECK_EQUAL(shown("localhost:9466"), "127.0.0.1:9466 anywhere");
  CAF_CHECK_EQUAL(shown("[::1]:1"), "[::1]:1 anywhere");
  CAF_CHECK_EQUAL(shown(":9466"), "*:9466 anywhere");
  CAF_CHECK_EQUAL(shown("*:65535"), "*:65535 anywhere");
  CAF_CHECK_EQUAL(shown("0.0.0.0:9466"), "0.0.0.0:9466 anywhere");
  CAF_CHECK_EQUAL(shown("10.0.0.7:9466"), "10.0.0.7:9466");
  CAF_CHECK_EQUAL(shown("[fd00::7]:9466"), "[fd00::7]:9466");
}

CAF_TEST(what is no place is refused) {
  for (const auto* text :
       {"", "9466", ":", ":0", ":65536", ":-1", ": 1", ":1 ", "n1:9466",
        "127.0.0.1", "127.0.0.1:", "1.2.3:4", "::1:9466", "[::1]", "[]:1",
        "[127.0.0.1]:1", "fd00::7:9466", "127.0.0.1:9466\n"}) {
    CAF_MESSAGE(text);
    CAF_CHECK_EQUAL(shown(text), "refused");
  }
  CAF_CHECK_EQUAL(shown(std::string(1000, '1') + ":1"), "refused");
}

CAF_TEST(the option is above what the site has set) {
  CAF_CHECK_EQUAL(where("", {}), "nowhere");
  CAF_CHECK_EQUAL(where("", set(9466, true)), "127.0.0.1:9466");
  CAF_CHECK_EQUAL(where("", set(9466, false)), "*:9466");
  CAF_CHECK_EQUAL(where("off", set(9466, false)), "nowhere");
  CAF_CHECK_EQUAL(where("127.0.0.1:1", set(9466, false)), "127.0.0.1:1");
  CAF_CHECK_EQUAL(where("n1", set(9466, false)), "refused");
}

CAF_TEST(a port that is taken is named) {
  const auto door = listen_on_loopback("127.0.0.1", 0, 1);
  CAF_REQUIRE(door);
  const auto port = local_address(door->get()).port;
  auto place = parse_metrics_place("localhost:" + std::to_string(port));
  CAF_REQUIRE(place);
  const auto taken = listen_at(*place);
  CAF_REQUIRE(!taken);
  CAF_CHECK(reason_of(taken.error()).find("port " + std::to_string(port))
            != std::string::npos);
}
