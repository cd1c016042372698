// What it costs to find events for a connection, and connections for an event.

#include "actors/events/event_shelf.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr auto wanted = static_cast<status>(-5001);
constexpr auto other = static_cast<status>(-5002);

struct plain_shelf : event_shelf {
  plain_shelf() : event_shelf("job") {
    // nop
  }

  size_t raise(status code) {
    auto x = event_entry{};
    x.number = ++last;
    x.code = code;
    auto what = event{};
    what.code = code;
    what.source = {"job", 1};
    what.range = data_range::nspace;
    x.what = kept_event::whole(std::make_shared<const event>(what));
    x.filter = std::make_shared<const range_filter>(what);
    return add(std::move(x)).size();
  }

  void on_owed(event_entry&) override {
    // nop
  }

  void on_settled(event_entry&) override {
    // nop
  }

  void on_erased(const event_entry&) override {
    // nop
  }

  uint64_t last = 0;
};

} // namespace

CAF_TEST(CACHE-7 registering a code looks at the events with it alone) {
  auto uut = plain_shelf{};
  for (auto n = 0; n < 30000; ++n)
    uut.raise(n % 10000 == 0 ? wanted : other);
  const auto before = uut.index().looked_at();
  uut.subscribe(1, {"job", 0}, {wanted}, 8);
  auto got = 0;
  while (auto* x = uut.next(1)) {
    uut.hand(1, *x);
    ++got;
  }
  CAF_CHECK_EQUAL(got, 3);
  CAF_CHECK(uut.index().looked_at() > before);
  CAF_CHECK(uut.index().looked_at() - before <= 4 * 3);
}

CAF_TEST(CACHE-7 an event is compared with those alone who registered its code) {
  auto uut = plain_shelf{};
  for (uint32_t id = 1; id <= 1000; ++id)
    uut.subscribe(id, {"job", id + 1}, {id % 500 == 0 ? wanted : other}, 8);
  const auto before = uut.considered();
  CAF_CHECK_EQUAL(uut.raise(wanted), 2u);
  CAF_CHECK_EQUAL(uut.considered() - before, 2u);
}
