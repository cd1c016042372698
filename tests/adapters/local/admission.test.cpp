#include "adapters/local/admission.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <vector>

using namespace troupe;

namespace {

local_limits limits() {
  local_limits result;
  result.half_open = 2;
  result.half_open_per_awaited = 2;
  result.awaited = 1;
  return result;
}

} // namespace

CAF_TEST(LIM1 a user has a few places and two for each process awaited) {
  size_t awaited = 0;
  admission uut{limits(), [&](uint32_t) { return awaited; }, {}};
  std::vector<admission::place> places;
  const auto admit = [&](uint32_t uid) {
    auto x = uut.admit(uid);
    if (!x)
      return false;
    places.push_back(std::move(*x));
    return true;
  };
  CAF_CHECK(admit(1));
  CAF_CHECK(admit(1));
  CAF_CHECK(!admit(1));
  CAF_CHECK(admit(2)); // Somebody else.
  awaited = 1;
  CAF_CHECK(admit(1));
  CAF_CHECK(admit(1));
  CAF_CHECK(!admit(1));
  places.front().settle();
  places.front().settle(); // No effect.
  CAF_CHECK(admit(1));
  CAF_CHECK(!admit(1));
  places.clear();
  CAF_CHECK(admit(1));
}

CAF_TEST(LIM1 without knowledge of registrations some are assumed) {
  admission uut{limits(), {}, {}};
  std::vector<admission::place> places;
  for (auto i = 0; i < 4; ++i) {
    auto x = uut.admit(1);
    CAF_REQUIRE(x);
    places.push_back(std::move(*x));
  }
  const auto refused = uut.admit(1);
  CAF_REQUIRE(!refused);
  CAF_CHECK(status_of(refused.error()) == status::out_of_resource);
  CAF_CHECK_EQUAL(reason_of(refused.error()),
                  "limit of 4 connections without a handshake (L1)");
}

CAF_TEST(LIM13 all connections are bounded by the registered processes) {
  auto wide = limits();
  wide.half_open = 10000;
  size_t registered = 0;
  admission uut{wide, {}, [&] { return registered; }};
  std::vector<admission::place> places;
  const auto fill = [&] {
    for (auto x = uut.admit(1); x; x = uut.admit(1)) {
      x->settle();
      places.push_back(std::move(*x));
    }
    return places.size();
  };
  CAF_CHECK_EQUAL(fill(), 64u);
  registered = 1000;
  CAF_CHECK_EQUAL(fill(), 1250u);
  places.resize(100);
  CAF_CHECK_EQUAL(fill(), 1250u);
}

CAF_TEST(a place may outlive the one who gave it) {
  admission::place kept;
  {
    admission uut{limits(), {}, {}};
    auto x = uut.admit(1);
    CAF_REQUIRE(x);
    kept = std::move(*x);
  }
  kept.settle();
}
