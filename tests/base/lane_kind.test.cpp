#include "base/lane_kind.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(O5 O16 an address tells the kind of its lanes) {
  CAF_CHECK(lane_kind_of("@troupe-lane.0.1") == lane_kind::local);
  for (const auto* x : {"10.0.0.1", "fd00::1", "fe80::1%eth0", ""})
    CAF_CHECK(lane_kind_of(x) == lane_kind::tcp);
  CAF_CHECK(lane_tier_of(lane_kind::local) < lane_tier_of(lane_kind::tcp));
}

CAF_TEST(O5 kinds are chosen by name) {
  const auto read = [](const std::vector<std::string>& words) {
    const auto x = read_lane_kinds(words);
    if (!x)
      return reason_of(x.error());
    return std::string{x->tcp ? "tcp" : ""} + (x->local ? "unix" : "");
  };
  CAF_CHECK_EQUAL(read({}), "tcpunix");
  CAF_CHECK_EQUAL(read({"tcp"}), "tcp");
  CAF_CHECK_EQUAL(read({"unix"}), "unix");
  CAF_CHECK_EQUAL(read({"unix", "tcp"}), "tcpunix");
  CAF_CHECK_EQUAL(read({"tcp", ""}), "there are no lanes of kind \"\"; write "
                                     "unix, tcp, or unix,tcp");
}
