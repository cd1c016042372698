#include "actors/mesh/exchange/event_spread.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <optional>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

const auto a = std::string{"a"};
const auto b = std::string{"b"};
const auto tool = std::string{"tool"};

struct fixture {
  struct submission {
    std::string nspace;
    deliver_event what;
    event_spread::completion then;
  };

  job_locations places;
  std::vector<submission> submitted;
  std::vector<deliver_event> here;
  std::vector<deliver_event> to_manager;
  std::vector<std::string> located;
  size_t listed = 0;
  bool is_tool_there = true;

  /// Whether lists of jobs come when the test says so.
  bool holds_list = false;
  std::function<void(std::vector<std::string>)> waiting;
  event_spread uut{places, effects()};

  fixture() {
    for (const auto& name : {a, b}) {
      auto map = job_map{};
      map.nspace = name;
      map.shares = {{0, "", {{0, 0, {}}}}, {1, "", {{1, 0, {}}}}};
      places.add(map);
    }
  }

  event_spread::effects effects() {
    auto out = event_spread::effects{};
    out.submit = [this](const std::string& nspace, deliver_event what,
                        event_spread::completion then) {
      submitted.push_back({nspace, std::move(what), std::move(then)});
    };
    out.deliver_here = [this](deliver_event what,
                              const event_spread::completion& then) {
      here.push_back(std::move(what));
      then(ack{});
    };
    out.tell_manager = [this](deliver_event what,
                              const event_spread::completion& then) {
      to_manager.push_back(std::move(what));
      then(ack{});
    };
    out.locate = [this](const std::string& nspace,
                        const std::function<void(const caf::error&)>& then) {
      located.push_back(nspace);
      then(make_error(status::not_found, ""));
    };
    out.list_jobs = [this](std::function<void(std::vector<std::string>)> then) {
      ++listed;
      if (holds_list)
        waiting = std::move(then);
      else
        then({a, b});
    };
    out.find_procs = [this](const std::vector<proc_id>&,
                            const std::function<void(bool)>& then) {
      then(is_tool_there);
    };
    return out;
  }

  using outcome = std::shared_ptr<std::optional<status>>;

  outcome notify(const proc_id& source, data_range range,
                 std::vector<info> infos = {}, int code = 1) {
    auto result = std::make_shared<std::optional<status>>();
    auto what =
      notify_request{static_cast<status>(code), range, std::move(infos)};
    uut.notify(source, std::move(what), [result](const caf::expected<ack>& x) {
      *result = x ? status::success : status_of(x.error());
    });
    return result;
  }

  outcome notify_some(const proc_id& source, std::vector<proc_id> procs) {
    return notify(
      source, data_range::custom,
      {with(attr::event_custom_range, value::procs(std::move(procs)))});
  }

  /// Answers a submission.
  void answer(size_t i, status code = status::success) {
    if (code == status::success)
      submitted.at(i).then(ack{});
    else
      submitted.at(i).then(make_error(code, ""));
  }
};

using procs = std::vector<proc_id>;

bool is(const fixture::outcome& x, status expected) {
  return x->has_value() && **x == expected;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(event_spread_tests, fixture)

CAF_TEST(E57 an event for its namespace stands in one order) {
  const auto x = notify({a, 0}, data_range::nspace);
  CAF_REQUIRE_EQUAL(submitted.size(), 1u);
  CAF_CHECK_EQUAL(submitted[0].nspace, a);
  CAF_CHECK((submitted[0].what.targets == procs{{a, rank_wildcard}}));
  CAF_CHECK(!x->has_value());
  answer(0);
  CAF_CHECK(is(x, status::success));
  CAF_CHECK_EQUAL(uut.waiting(), 0u);
}

CAF_TEST(E13 E57 a list over jobs stands in the order of each with its own) {
  const auto x = notify_some({a, 0}, {{a, 1}, {b, 0}, {tool, 0}});
  CAF_REQUIRE_EQUAL(submitted.size(), 3u);
  CAF_CHECK_EQUAL(submitted[0].nspace, "");
  CAF_CHECK((submitted[0].what.targets == procs{{tool, 0}}));
  CAF_CHECK_EQUAL(submitted[1].nspace, a);
  CAF_CHECK((submitted[1].what.targets == procs{{a, 1}}));
  CAF_CHECK_EQUAL(submitted[2].nspace, b);
  CAF_CHECK((submitted[2].what.targets == procs{{b, 0}}));
  answer(0);
  answer(2);
  CAF_CHECK(!x->has_value());
  answer(1);
  CAF_CHECK(is(x, status::success));
}

CAF_TEST(E45 session and global reach each job and what belongs to none) {
  for (const auto range : {data_range::session, data_range::global}) {
    submitted.clear();
    notify({a, 0}, range);
    CAF_REQUIRE_EQUAL(submitted.size(), 3u);
    CAF_CHECK_EQUAL(submitted[0].nspace, "");
    CAF_CHECK(submitted[0].what.targets.empty());
    CAF_CHECK((submitted[1].what.targets == procs{{a, rank_wildcard}}));
    CAF_CHECK((submitted[2].what.targets == procs{{b, rank_wildcard}}));
    for (size_t i = 0; i < 3; ++i)
      answer(i);
  }
}

CAF_TEST(E57 the resource manager is told at the root and nobody else is) {
  CAF_CHECK(is(notify({a, 0}, data_range::rm), status::success));
  CAF_CHECK_EQUAL(to_manager.size(), 1u);
  CAF_CHECK(submitted.empty());
}

CAF_TEST(E57 what stays in its process or on its node goes nowhere else) {
  CAF_CHECK(is(notify({a, 0}, data_range::proc_local), status::success));
  CAF_CHECK(here.empty());
  CAF_CHECK(is(notify({a, 0}, data_range::local), status::success));
  CAF_CHECK_EQUAL(here.size(), 1u);
  CAF_CHECK(here[0].targets.empty());
  CAF_CHECK(submitted.empty());
}

CAF_TEST(E57 a range that is not reached is not success) {
  // A rank that the job does not have, beside one that it has.
  const auto some = notify_some({a, 0}, {{a, 1}, {a, 7}});
  answer(0);
  CAF_CHECK(is(some, status::partial_success));
  // Nodes that are lost.
  const auto lost = notify_some({a, 0}, {{a, 1}, {b, 0}});
  answer(1);
  answer(2, status::unreach);
  CAF_CHECK(is(lost, status::partial_success));
  // A job that is over meanwhile.
  const auto over = notify_some({a, 0}, {{b, 0}});
  answer(3, status::not_found);
  CAF_CHECK(is(over, status::unreach));
  // Nobody has heard of it.
  is_tool_there = false;
  const auto nobody = notify_some({a, 0}, {{"nobody", 0}});
  answer(4);
  CAF_CHECK(is(nobody, status::unreach));
  CAF_CHECK(is(notify_some({a, 0}, {{a, 9}}), status::unreach));
  // Whoever addresses all there are has reached all there are.
  const auto all = notify({a, 0}, data_range::session);
  answer(5);
  answer(6);
  answer(7, status::not_found);
  CAF_CHECK(is(all, status::success));
}

CAF_TEST(SEQ-5 events of one source for one order go on without waiting) {
  for (auto i = 0; i < 10; ++i)
    notify({a, 0}, data_range::nspace, {}, i);
  CAF_REQUIRE_EQUAL(submitted.size(), 10u);
  for (auto i = 0u; i < 10; ++i)
    CAF_CHECK_EQUAL(static_cast<uint32_t>(submitted[i].what.what.code), i);
}

CAF_TEST(SEQ-5 P-J3 an event for other orders waits for those before it) {
  notify({a, 0}, data_range::nspace);
  notify({a, 0}, data_range::session);
  notify({a, 0}, data_range::local);
  CAF_CHECK_EQUAL(submitted.size(), 1u);
  // Another source does not wait.
  notify({a, 1}, data_range::nspace);
  CAF_CHECK_EQUAL(submitted.size(), 2u);
  answer(0);
  CAF_CHECK_EQUAL(submitted.size(), 5u);
  CAF_CHECK(here.empty());
  answer(2);
  answer(3);
  CAF_CHECK(here.empty());
  answer(4);
  CAF_CHECK_EQUAL(here.size(), 1u);
  answer(1);
  CAF_CHECK_EQUAL(uut.waiting(), 0u);
}

CAF_TEST(SEQ-5 events wait in their order while jobs are being looked up) {
  holds_list = true;
  notify({a, 0}, data_range::session, {}, 1);
  notify({a, 0}, data_range::nspace, {}, 2);
  CAF_CHECK(submitted.empty());
  waiting({a});
  CAF_REQUIRE_EQUAL(submitted.size(), 2u); // tools and a
  answer(0);
  answer(1);
  CAF_REQUIRE_EQUAL(submitted.size(), 3u);
  CAF_CHECK_EQUAL(static_cast<int>(submitted[2].what.what.code), 2);
}

CAF_TEST(P-J4 an event may be answered before all have it) {
  const auto early =
    std::vector<info>{with(event_accept, value::string("local"))};
  const auto x = notify({a, 0}, data_range::nspace, early);
  CAF_CHECK(is(x, status::success));
  CAF_CHECK_EQUAL(submitted.size(), 1u);
  // But not without bound: a flood is slowed down.
  for (size_t i = 0; i < defaults::event_early_answers; ++i)
    notify({a, 0}, data_range::nspace, early);
  const auto last = notify({a, 0}, data_range::nspace, early);
  CAF_CHECK(!last->has_value());
  answer(submitted.size() - 1);
  CAF_CHECK(is(last, status::success));
}

CAF_TEST(E3 the system is a source of its own for each namespace) {
  auto done = 0;
  const auto raise = [&](const std::string& nspace) {
    auto what = event{};
    what.source = {"", rank_undef};
    what.range = data_range::nspace;
    uut.raise(std::move(what), nspace,
              [&](const caf::expected<ack>&) { ++done; });
  };
  raise(a);
  raise(b);
  raise(a);
  CAF_REQUIRE_EQUAL(submitted.size(), 3u);
  CAF_CHECK((submitted[1].what.targets == procs{{b, rank_wildcard}}));
  for (size_t i = 0; i < 3; ++i)
    answer(i);
  CAF_CHECK_EQUAL(done, 3);
}

CAF_TEST_FIXTURE_SCOPE_END()
