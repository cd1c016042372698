// What a peer may have asked for and not been answered.

#include "adapters/local/connection_requests.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

using kind = open_requests::kind;

local_limits few() {
  auto result = local_limits{};
  result.in_flight = 10;
  result.notifies = 3;
  result.notify_bytes = 100;
  result.pushes = 4;
  result.push_bytes = 1000;
  return result;
}

struct fixture {
  /// Adds requests with the tags from `first`.
  void add(uint32_t first, size_t n, kind what, size_t bytes = 1) {
    for (auto i = size_t{0}; i < n; ++i)
      uut.add(first + static_cast<uint32_t>(i), what, bytes);
  }

  const local_limits limits = few();
  open_requests uut{limits};
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(open_requests_tests, fixture)

CAF_TEST(LIM16 each bound stops reading and the answer of one lifts it) {
  struct row {
    kind what;
    size_t count;
    size_t bytes;
    bool may_grow;
  };
  const row rows[] = {
    {kind::other, 9, 1000, true}, {kind::other, 10, 0, false},
    {kind::notify, 2, 49, true},  {kind::notify, 3, 1, false},
    {kind::notify, 2, 50, false}, {kind::push, 3, 333, true},
    {kind::push, 4, 1, false},    {kind::push, 2, 500, false},
  };
  for (const auto& x : rows) {
    add(100, x.count, x.what, x.bytes);
    CAF_CHECK_EQUAL(uut.may_grow(), x.may_grow);
    uut.close(100);
    CAF_CHECK(uut.may_grow());
    for (auto i = uint32_t{1}; i < x.count; ++i)
      uut.close(100 + i);
  }
  CAF_CHECK(!uut.has(100));
}

CAF_TEST(a tag is taken from the request to its answer) {
  add(7, 1, kind::other);
  CAF_CHECK(uut.has(7));
  CAF_CHECK(!uut.has(8));
  uut.close(8);
  uut.close(7);
  CAF_CHECK(!uut.has(7));
}

CAF_TEST(I18 a peer stops at half of either bound and goes on when all is answered) {
  CAF_CHECK(!uut.news_of_input());
  add(1, 1, kind::push);
  CAF_CHECK(!uut.news_of_input());
  add(2, 1, kind::push);
  CAF_CHECK(uut.news_of_input() == true);
  CAF_MESSAGE("a peer that cannot be told is asked about again");
  CAF_CHECK(uut.news_of_input() == true);
  uut.note_input(true);
  CAF_CHECK(!uut.news_of_input());
  uut.close(1);
  CAF_CHECK(!uut.news_of_input());
  uut.close(2);
  CAF_CHECK(uut.news_of_input() == false);
  uut.note_input(false);
  CAF_CHECK(!uut.news_of_input());
  add(3, 1, kind::push, 500);
  CAF_CHECK(uut.news_of_input() == true);
}

CAF_TEST(notifications and other requests stop no input) {
  add(1, 9, kind::notify, 90);
  add(20, 9, kind::other, 900);
  CAF_CHECK(!uut.news_of_input());
}

CAF_TEST_FIXTURE_SCOPE_END()
