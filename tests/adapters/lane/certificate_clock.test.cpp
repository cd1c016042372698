#include "adapters/lane/certificates.hpp"
#include "tests/adapters/lane/nodes.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr time_t hour = 3600;
constexpr time_t year = 365 * 24 * hour;

struct fixture {
  /// The certificate is good for two hours from now on.
  node_credentials mine =
    value_of(value_of(authority::make("dvm")).issue(1, "n1", {-60s, 7200s}));
  const time_t now = std::time(nullptr);
  certificate_clock clock{{now, 500s}};

  /// Whether it is accepted so long after the start, with the wall clock set by
  /// so much.
  bool is_good(std::chrono::seconds passed, time_t jump) const {
    return clock.accepts(mine.certificate.get(),
                         {now + passed.count() + jump, 500s + passed});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(certificate_clock_tests, fixture)

CAF_TEST(MND-X70 a certificate does not expire because the clock was set) {
  for (const auto jump :
       {time_t{0}, 3 * hour, -3 * hour, 10 * year, -10 * year}) {
    CAF_CHECK(is_good(0s, jump));
    CAF_CHECK(is_good(3600s, jump));
  }
}

CAF_TEST(MND-X70 X45 it expires by the time that passes) {
  CAF_CHECK(!is_good(7300s, 0));
  CAF_CHECK(!is_good(7300s, 10 * year));
  CAF_CHECK(!is_good(7300s, -10 * year));
}

CAF_TEST(MND-X70 a clock that was wrong at the start can be put right) {
  const auto early = certificate_clock{{now - year, 500s}};
  CAF_CHECK(!early.accepts(mine.certificate.get(), {now - year, 500s}));
  CAF_CHECK(early.accepts(mine.certificate.get(), {now, 510s}));
}

CAF_TEST_FIXTURE_SCOPE_END()
