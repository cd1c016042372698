// Who has which monitors.

#include "actors/monitors/monitor_table.hpp"

#include "actors/monitors/defaults.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using fixtures::asks;

namespace {

const auto p0 = proc_id{"job", 0};
const auto p1 = proc_id{"job", 1};

monitor_entry called(const std::string& id) {
  auto result = monitor_entry{};
  result.id = id;
  return result;
}

struct fixture {
  monitor_table uut;

  size_t count(const proc_id& proc, const std::optional<std::string>& id = {}) {
    return uut.select(proc, id).size();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(monitor_table_tests, fixture)

CAF_TEST(M10 M11 110 identifiers are those of their requestor) {
  uut.add(asks(p0), called("x"));
  uut.add(asks(p0), called("x"));
  uut.add(asks(p0), called("y"));
  uut.add(asks(p1), called("x"));
  CAF_CHECK_EQUAL(count(p0, "x"), 2u);
  CAF_CHECK_EQUAL(count(p0), 3u);
  CAF_CHECK_EQUAL(count(p0, "z"), 0u);
  CAF_CHECK_EQUAL(count(p1, "y"), 0u);
  for (const auto x : uut.select(p0, "x"))
    uut.remove(x);
  CAF_CHECK_EQUAL(count(p0), 1u);
  CAF_CHECK_EQUAL(count(p1), 1u);
}

CAF_TEST(112 monitors are found by connection and by namespace) {
  uut.add(asks(p0, 1), called("a"));
  uut.add(asks(p0, 2), called("b"));
  uut.add(asks(p1, 3), called("c"));
  uut.add(asks({"job2", 0}, 4), called("d"));
  CAF_CHECK_EQUAL(uut.of_connection(p0, 2).size(), 1u);
  CAF_CHECK_EQUAL(uut.of_connection(p0, 3).size(), 0u);
  CAF_CHECK_EQUAL(uut.of_nspace("job").size(), 3u);
  CAF_CHECK_EQUAL(uut.of_nspace("jo").size(), 0u);
  CAF_CHECK_EQUAL(uut.all().size(), 4u);
}

CAF_TEST(a number is never used again) {
  const auto x = uut.add(asks(p0), called("a"));
  const auto number = uut.number_of(x);
  CAF_CHECK(uut.item_of(number) == x);
  uut.remove(x);
  CAF_CHECK(!uut.item_of(number));
  CAF_CHECK(!uut.find(p0));
  const auto y = uut.add(asks(p1), called("b"));
  CAF_CHECK_EQUAL(x, y); // The small one is.
  CAF_CHECK(uut.number_of(y) != number);
  CAF_CHECK(!uut.item_of(number));
  CAF_CHECK(uut.of(uut.process_of(y)).proc == p1);
}

CAF_TEST(LIM7 X23 a process has 64 monitors and a node ten thousand) {
  for (size_t i = 0; i < defaults::monitors_per_client; ++i) {
    CAF_REQUIRE(!uut.room(p0, 1));
    uut.add(asks(p0), called(std::to_string(i)));
  }
  const auto why = uut.room(p0, 1);
  CAF_CHECK(status_of(why) == status::out_of_resource);
  CAF_CHECK(reason_of(why).find("job:0") != std::string::npos);
  CAF_CHECK(!uut.room(p1, 64));
  CAF_CHECK(uut.room(p1, 65) != caf::none);
  uut.remove(uut.select(p0)[0]);
  CAF_CHECK(!uut.room(p0, 1));
  for (uint32_t rank = 2; uut.size() < defaults::monitors_per_node; ++rank)
    for (int i = 0; i < 64 && uut.size() < defaults::monitors_per_node; ++i)
      uut.add(asks({"job", rank}, rank), called("x"));
  CAF_CHECK(status_of(uut.room({"new", 0}, 1)) == status::out_of_resource);
}

CAF_TEST(LIM7 a site may set how many monitors there are) {
  uut = monitor_table{{2, 3}};
  CAF_CHECK(!uut.room(p0, 2));
  const auto why = uut.room(p0, 3);
  CAF_CHECK(status_of(why) == status::out_of_resource);
  CAF_CHECK(reason_of(why).find("more than 2 ") != std::string::npos);
  uut.add(asks(p0), called("a"));
  const auto last = uut.add(asks(p0), called("b"));
  CAF_CHECK(uut.room(p0, 1) != caf::none);
  CAF_CHECK(!uut.room(p1, 1));
  uut.add(asks(p1), called("c"));
  const auto full = uut.room(p1, 1);
  CAF_CHECK(status_of(full) == status::out_of_resource);
  CAF_CHECK(reason_of(full).find("has 3 ") != std::string::npos);
  uut.remove(last);
  CAF_CHECK(!uut.room(p1, 1));
}

CAF_TEST(LIM7 C11.10 updates on resources are counted apart) {
  auto bounds = monitor_limits{};
  bounds.per_process = 1;
  bounds.node = 2;
  bounds.updates_per_process = 2;
  bounds.updates = 3;
  uut = monitor_table{bounds};
  const auto update = [&](const proc_id& proc) {
    auto x = called("u");
    x.method = monitor_method::usage;
    return uut.add(asks(proc), std::move(x));
  };
  uut.add(asks(p0), called("a"));
  CAF_CHECK(uut.room(p0, 1) != caf::none);
  CAF_CHECK(!uut.room(p0, 2, monitor_method::usage));
  update(p0);
  const auto last = update(p0);
  CAF_CHECK_EQUAL(uut.updates(), 2u);
  CAF_CHECK_EQUAL(uut.size(), 3u);
  const auto why = uut.room(p0, 1, monitor_method::usage);
  CAF_CHECK(status_of(why) == status::out_of_resource);
  CAF_CHECK(reason_of(why).find("more than 2 ") != std::string::npos);
  CAF_CHECK(!uut.room(p1, 1));
  update(p1);
  const auto full = uut.room(p1, 1, monitor_method::usage);
  CAF_CHECK(status_of(full) == status::out_of_resource);
  CAF_CHECK(reason_of(full).find("has 3 ") != std::string::npos);
  uut.remove(last);
  CAF_CHECK_EQUAL(uut.updates(), 2u);
  CAF_CHECK(!uut.room(p0, 1, monitor_method::usage));
}

CAF_TEST_FIXTURE_SCOPE_END()
