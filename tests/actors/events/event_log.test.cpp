// The log of a node's events: who gets what, what is kept for whom, and who has
// to wait.

#include "actors/events/event_log.hpp"

#include "base/trace_ring.hpp"
#include "config/defaults.hpp"
#include "tests/fixtures/event_desk.hpp"
#include "tests/fixtures/event_log_audit.hpp"
#include "tests/test.hpp"

#include <malloc.h>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto code_a = static_cast<status>(-5001);
constexpr auto code_b = static_cast<status>(-5002);
constexpr auto hot = status::event_sys_other;

using mark_list = std::vector<uint64_t>;
using outcome = event_log::outcome;

const auto rank0 = proc_id{"job", 0};
const auto rank1 = proc_id{"job", 1};
const auto rank2 = proc_id{"job", 2};

event_log_options small(size_t memory) {
  auto result = event_log_options{};
  result.per_namespace.memory = memory;
  return result;
}

/// What an event with `bytes` bytes of content counts for.
size_t cost(size_t bytes) {
  auto desk = event_desk{};
  return cost_of(desk.make(code_a, rank0, data_range::nspace, {}, bytes));
}

struct three_ranks : event_desk {
  explicit three_ranks(event_log_options options = {})
    : event_desk(std::move(options)) {
    log.await("job", {0, 1, 2});
    log.await("other", {0});
    for (uint32_t rank = 0; rank < 3; ++rank)
      connect(rank + 1, {"job", rank});
  }

  size_t entries(const std::string& nspace = "job") {
    for (const auto& x : log.count())
      if (x.nspace == nspace)
        return x.entries;
    return 0;
  }

  event_log::counts counts(const std::string& nspace = "job") {
    for (const auto& x : log.count())
      if (x.nspace == nspace)
        return x;
    return {};
  }

  mark_list retained(const std::string& nspace = "job") {
    auto result = mark_list{};
    log.each(nspace, 0, [&](const event_entry& x) {
      result.push_back(mark_of(*x.get()));
    });
    return result;
  }
};

/// Raises events until one has to wait.
/// @returns how many were taken before.
size_t flood(event_desk& to, const proc_id& from, size_t most = 100000) {
  for (size_t i = 0; i < most; ++i)
    if (to.raise(code_a, from, data_range::nspace, {}, 64) == outcome::waits)
      return i;
  return most;
}

} // namespace

// -- payloads ----------------------------------------------------------------

namespace {

/// The payloads of a log, by the numbers of their events.
std::vector<kept_event::pointer> payloads(const event_log& log,
                                          const std::string& nspace) {
  auto result = std::vector<kept_event::pointer>{};
  log.each(nspace, 0, [&](const event_entry& x) { result.push_back(x.what); });
  return result;
}

/// An info whose value is an array in an array and so on.
info nested(int depth) {
  auto result = info{"deep", 0, value::boolean(true)};
  for (auto i = 0; i < depth; ++i)
    result = {"deep", 0, value::infos({std::move(result)})};
  return result;
}

} // namespace

CAF_TEST(E47 LIM9 an event is bytes while nobody is about to get it) {
  auto uut = three_ranks{};
  uut.readings[1].is_eager = false;
  uut.enroll(1, {code_a});
  uut.raise(code_a, rank1, data_range::local);
  uut.raise(code_b, rank1, data_range::local);
  const auto kept = payloads(uut.log, "job");
  CAF_REQUIRE_EQUAL(kept.size(), 2u);
  CAF_CHECK(!kept[0]->is_packed());
  CAF_CHECK(kept[1]->is_packed());
  uut.take(1);
  CAF_CHECK(kept[0]->is_packed());
  // All logs have the same.
  CAF_CHECK(payloads(uut.log, "other") == kept);
  CAF_CHECK(payloads(uut.log, "") == kept);
}

CAF_TEST(E47 who registers late gets what was raised as it was) {
  auto uut = three_ranks{};
  uut.raise(code_a, rank1, data_range::local,
            {{"text", info_required, value::string("hello")},
             {"none", 0, value{}},
             nested(5)},
            200);
  const auto kept = payloads(uut.log, "job");
  CAF_REQUIRE(kept.size() == 1 && kept[0]->is_packed());
  const auto same =
    event_desk{}.make(code_a, rank1, data_range::local,
                      {{"text", info_required, value::string("hello")},
                       {"none", 0, value{}},
                       nested(5)},
                      200);
  const auto got = kept[0]->get(code_a, rank1);
  CAF_REQUIRE(got != nullptr);
  CAF_CHECK(got->code == same.code && got->source == same.source
            && got->range == same.range && got->infos == same.infos);
  uut.enroll(1, {code_a});
  uut.enroll(3, {code_a});
  CAF_CHECK_EQUAL(uut.got(1), mark_list{1});
  CAF_CHECK_EQUAL(uut.got(3), mark_list{1});
  CAF_CHECK(kept[0]->is_packed());
}

CAF_TEST(E47 LIM9 a kept event takes less memory than it counts for) {
  auto uut = event_desk{};
  const auto source = proc_id{"troupe-node0001-12345@1", 1};
  uut.log.await(source.nspace, {0, 1});
  // As bench/pmix_events.c raises them; they are for all, so two logs keep them.
  const auto raise = [&](uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
      uut.raise(code_a, source, data_range::local,
                {with(attr::event_non_default, value::boolean(true)),
                 {"bench.sent", 0, value::uint64(uint64_t{1} << 60)}});
  };
  raise(100);
  const auto before = mallinfo2().uordblks;
  constexpr auto count = uint64_t{5000};
  raise(count);
  const auto used = mallinfo2().uordblks - before;
  CAF_CHECK_EQUAL(payloads(uut.log, source.nspace).size(), count + 100);
  if (used == 0)
    return; // Another allocator, such as that of a sanitizer.
  CAF_CHECK_GREATER(used, count * 100);
  CAF_CHECK_LESS_OR_EQUAL(used, count * 300);
  auto counted = size_t{0};
  for (const auto& x : uut.log.count())
    counted += x.bytes;
  CAF_CHECK_GREATER(counted, used);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(E47 LIM9 a kept event counts for its bytes if nobody is to get it) {
  auto uut = three_ranks{};
  const auto counted = [&](size_t bytes) {
    const auto before = uut.counts().bytes;
    uut.raise(code_a, rank1, data_range::nspace, {}, bytes);
    return uut.counts().bytes - before;
  };
  const auto kept = counted(64);
  CAF_CHECK(kept < cost(64));
  CAF_CHECK_EQUAL(counted(1064) - kept, 1000u + 1u); // And a longer count.
  uut.enroll(1, {code_a});
  uut.readings[1].is_eager = false;
  CAF_CHECK_EQUAL(counted(64), cost(64));
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(L4 an event that nests too deep to be kept is missed) {
  auto uut = three_ranks{};
  uut.raise(code_a, rank1, data_range::local, {nested(2 * max_value_depth)});
  uut.raise(code_a, rank1, data_range::local);
  uut.enroll(1, {code_a});
  CAF_CHECK_EQUAL(uut.got(1), mark_list{2});
  CAF_CHECK_EQUAL(uut.readings[1].missed, 1u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(events of one source and range share what says whom they are for) {
  auto uut = three_ranks{};
  uut.raise(code_a, rank1, data_range::local);
  uut.raise(code_b, rank1, data_range::local);
  uut.raise(code_a, rank2, data_range::local);
  uut.raise(code_a, rank1, data_range::local,
            {with(attr::event_non_default, value::boolean(true))});
  auto filters = std::vector<std::shared_ptr<const range_filter>>{};
  uut.log.each("other", 0,
               [&](const event_entry& x) { filters.push_back(x.filter); });
  CAF_REQUIRE_EQUAL(filters.size(), 4u);
  CAF_CHECK(filters[0] == filters[1]);
  CAF_CHECK(filters[2] != filters[0]);
  CAF_CHECK(filters[2]->source() == rank2);
  CAF_CHECK(!filters[3]->admits_default());
}

// -- retention ---------------------------------------------------------------

CAF_TEST(E11 E47 a job event waits for processes that have not connected) {
  auto uut = event_desk{};
  uut.log.await("job", {0, 1, 2});
  uut.connect(1, rank0);
  uut.enroll(1, {code_a});
  uut.raise(code_a, rank1);
  CAF_CHECK_EQUAL(uut.got(1), mark_list{1});
  uut.connect(3, rank2);
  uut.enroll(3, {code_a});
  CAF_CHECK_EQUAL(uut.got(3), mark_list{1});
  CAF_CHECK_EQUAL(uut.log.count().front().entries, 0u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(E11 E47 an event that all have had or will never want is freed) {
  auto uut = three_ranks{};
  uut.enroll(1, {});
  uut.raise(code_a, rank1);
  CAF_CHECK_EQUAL(uut.entries(), 1u);
  uut.log.end(rank2);
  CAF_CHECK_EQUAL(uut.entries(), 0u);
  uut.raise(code_a, rank0);
  CAF_CHECK_EQUAL(uut.entries(), 1u);
  uut.disconnect(2);
  CAF_CHECK_EQUAL(uut.entries(), 0u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(E11 E12 job events outnumber the ring and none is lost) {
  auto options = event_log_options{};
  options.ring_size = 16;
  auto uut = event_desk{options};
  uut.log.await("job", {0, 1});
  constexpr auto count = uint64_t{5000};
  for (uint64_t i = 0; i < count; ++i)
    uut.raise(code_a, rank1);
  CAF_CHECK_EQUAL(uut.accepted.size(), count);
  uut.connect(1, rank0);
  uut.enroll(1, {code_a});
  const auto got = uut.got(1);
  CAF_REQUIRE_EQUAL(got.size(), count);
  CAF_CHECK(std::is_sorted(got.begin(), got.end()));
  CAF_CHECK_EQUAL(uut.readings[1].missed, 0u);
}

CAF_TEST(E3 E46 an event aimed at a job needs no registration to be taken) {
  auto uut = three_ranks{};
  uut.enroll(1, {code_a});
  uut.tell(code_a, {{"job", rank_wildcard}});
  CAF_CHECK_EQUAL(uut.got(1), mark_list{1});
  uut.enroll(2, {code_a});
  CAF_CHECK_EQUAL(uut.got(2), mark_list{1});
}

CAF_TEST(E2 E13 E46 nobody outside of the audience hears of it at once or late) {
  auto uut = three_ranks{};
  uut.connect(9, {"other", 0});
  uut.enroll(9, {code_a});
  uut.raise(code_a, rank1);
  uut.raise(code_a, rank1, data_range::custom,
            {with(attr::event_custom_range, value::procs({rank2}))});
  uut.enroll(9, {});
  CAF_CHECK_EQUAL(uut.got(9), mark_list{});
  uut.enroll(1, {code_a});
  CAF_CHECK_EQUAL(uut.got(1), mark_list{1});
  uut.enroll(3, {code_a});
  CAF_CHECK_EQUAL(uut.got(3), (mark_list{1, 2}));
}

CAF_TEST(E49 A12 each late registration gets all that matches once) {
  auto uut = three_ranks{};
  uut.raise(code_a, rank0);
  uut.raise(code_b, rank0);
  uut.raise(code_a, rank0);
  uut.enroll(2, {code_a});
  uut.enroll(3, {code_a});
  CAF_CHECK_EQUAL(uut.got(2), (mark_list{1, 3}));
  CAF_CHECK_EQUAL(uut.got(3), (mark_list{1, 3}));
  uut.enroll(2, {});
  CAF_CHECK_EQUAL(uut.got(2), mark_list{2});
  uut.enroll(2, {code_b});
  CAF_CHECK_EQUAL(uut.got(2), mark_list{});
}

CAF_TEST(E49 who registers again gets what it missed and nothing twice) {
  auto uut = three_ranks{};
  uut.enroll(2, {code_a});
  uut.raise(code_a, rank0);
  uut.log.unsubscribe(2, {code_a});
  uut.raise(code_a, rank0);
  CAF_CHECK_EQUAL(uut.got(2), mark_list{1});
  uut.enroll(2, {code_a});
  CAF_CHECK_EQUAL(uut.got(2), mark_list{2});
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(E59 an event that is not to be cached goes only to who waits for it) {
  auto uut = three_ranks{};
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  uut.raise(code_a, rank0, data_range::nspace,
            {with(attr::event_do_not_cache)});
  CAF_CHECK_EQUAL(uut.got(2), mark_list{1});
  uut.enroll(3, {code_a});
  CAF_CHECK_EQUAL(uut.got(3), mark_list{});
  uut.take(2);
  CAF_CHECK_EQUAL(uut.entries(), 0u);
}

CAF_TEST(E8 an event for all is kept for namespaces to come) {
  auto uut = three_ranks{};
  uut.raise(code_a, rank0, data_range::global);
  uut.raise(code_b, rank0);
  uut.log.await("late", {0});
  uut.connect(7, {"late", 0});
  uut.enroll(7, {});
  CAF_CHECK_EQUAL(uut.got(7), mark_list{1});
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(CACHE-1 what a namespace leaves behind is freed with it) {
  auto uut = three_ranks{};
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  uut.raise(code_a, rank0);
  uut.raise(code_a, rank0, data_range::global);
  uut.log.forget("job");
  CAF_CHECK_EQUAL(uut.entries(), 0u);
  CAF_CHECK_EQUAL(uut.entries(""), 0u);
  CAF_CHECK(uut.log.take(2, 2, uut.now));
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(P-J2 forked processes of one rank get an event once each) {
  auto uut = three_ranks{};
  uut.connect(11, rank0);
  uut.enroll(1, {code_a});
  uut.enroll(11, {code_a});
  uut.readings[11].is_eager = false;
  uut.raise(code_a, rank1);
  CAF_CHECK_EQUAL(uut.got(1), mark_list{1});
  CAF_CHECK_EQUAL(uut.got(11), mark_list{1});
  CAF_CHECK_EQUAL(audit(uut.log), "");
  uut.disconnect(1);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  uut.take(11);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

// -- the state table ---------------------------------------------------------

CAF_TEST(CACHE-3 what the system says of a process replaces what it said) {
  auto uut = three_ranks{};
  const auto about = [](const proc_id& x) {
    return std::vector<info>{
      with(attr::event_affected_proc, value::of_proc(x))};
  };
  const auto everybody = std::vector<proc_id>{{"job", rank_wildcard}};
  for (auto i = 0; i < 100; ++i) {
    uut.tell(status::proc_aborted, everybody, about(rank1));
    uut.tell(status::proc_aborted, everybody, about(rank2));
  }
  CAF_CHECK_EQUAL(uut.retained(), (mark_list{199, 200}));
  uut.enroll(1, {status::proc_aborted});
  CAF_CHECK_EQUAL(uut.got(1), (mark_list{199, 200}));
  CAF_CHECK_EQUAL(uut.readings[1].missed, 0u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(P-J5 what the system says needs no room) {
  auto uut = three_ranks{small(4096)};
  uut.enroll(2, {});
  uut.readings[2].is_eager = false;
  flood(uut, rank0);
  const auto told =
    uut.tell(status::proc_aborted, {{"job", rank_wildcard}},
             {with(attr::event_affected_proc, value::of_proc(rank1))});
  CAF_CHECK(told == outcome::taken);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

// -- budgets -----------------------------------------------------------------

CAF_TEST(P-J5 E12 X21 LIM9 a flood waits for who does not read) {
  auto uut = three_ranks{small(16384)};
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  const auto taken = flood(uut, rank0);
  CAF_CHECK(taken > 10u);
  CAF_CHECK(uut.counts().bytes <= 16384u);
  CAF_CHECK_EQUAL(uut.counts().held, 1u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  // Other namespaces go on.
  uut.connect(9, {"other", 0});
  uut.log.await("other", {1});
  CAF_CHECK(uut.raise(code_a, {"other", 0}) == outcome::taken);
  uut.readings[2].is_eager = true;
  uut.settle();
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(uut.got(2).size(), taken + 1);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(CACHE-6 the end of who does not read lets the others go on) {
  for (const auto how : {"disconnect", "unsubscribe", "forget"}) {
    auto uut = three_ranks{small(16384)};
    uut.enroll(2, {code_a});
    uut.readings[2].is_eager = false;
    flood(uut, rank0);
    CAF_REQUIRE(uut.log.is_waiting());
    if (how == std::string{"disconnect"}) {
      uut.disconnect(2);
    } else if (how == std::string{"forget"}) {
      uut.log.forget("job");
    } else {
      uut.take(2);
      uut.log.unsubscribe(2, {code_a});
    }
    CAF_CHECK(!uut.log.is_waiting());
    CAF_CHECK_EQUAL(audit(uut.log), "");
  }
}

CAF_TEST(P-J5 CACHE-6 history never holds a source back) {
  auto uut = event_desk{small(16384)};
  uut.log.await("job", {0, 1});
  CAF_CHECK_EQUAL(flood(uut, rank1, 1000), 1000u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(CACHE-4 CACHE-5 what history dropped is counted to the last event) {
  auto uut = event_desk{small(16384)};
  uut.log.await("job", {0, 1});
  flood(uut, rank1, 1000);
  uut.connect(1, rank0);
  uut.enroll(1, {code_a});
  auto& reading = uut.readings[1];
  CAF_CHECK(reading.missed > 900u);
  CAF_CHECK_EQUAL(reading.missed + reading.marks.size(), 1000u);
  CAF_CHECK_EQUAL(reading.marks.back(), 1000u);
  CAF_CHECK_EQUAL(uut.lines.size(), 1u);
  // Told once.
  const auto missed = reading.missed;
  uut.enroll(1, {});
  uut.raise(code_a, rank1);
  CAF_CHECK_EQUAL(reading.missed, missed);
}

CAF_TEST(CACHE-4 what somebody had before it was dropped it has not missed) {
  auto uut = event_desk{small(16384)};
  uut.log.await("job", {0, 1, 2});
  uut.connect(1, rank0);
  uut.enroll(1, {code_a});
  flood(uut, rank1, 100);
  uut.log.unsubscribe(1, {code_a});
  flood(uut, rank1, 200);
  uut.enroll(1, {code_a});
  const auto& reading = uut.readings[1];
  CAF_CHECK(reading.missed > 0u);
  CAF_CHECK_EQUAL(reading.missed + reading.marks.size(), 300u);
}

CAF_TEST(P-J5 with history held a source waits for who has yet to connect) {
  auto options = small(16384);
  options.per_namespace.holds_history = true;
  auto uut = event_desk{options};
  uut.log.await("job", {0, 1});
  uut.connect(2, rank1);
  const auto taken = flood(uut, rank1, 1000);
  CAF_CHECK(taken < 1000u);
  uut.connect(1, rank0);
  uut.enroll(1, {code_a});
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(LIM9 the node has a budget over all namespaces) {
  auto options = small(16384);
  options.node_bytes = 20000;
  auto uut = three_ranks{options};
  uut.connect(9, {"other", 0});
  uut.log.await("other", {1});
  flood(uut, {"other", 0}, 1000); // History that gives way.
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  CAF_CHECK(flood(uut, rank0, 1000) < 1000u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  CAF_CHECK(uut.counts("other").missed > 0u);
}

CAF_TEST(LIM8 an event that no budget has room for is refused) {
  auto uut = three_ranks{small(4096)};
  CAF_CHECK(uut.raise(code_a, rank0, data_range::nspace, {}, 5000)
            == outcome::too_large);
}

CAF_TEST(P-J3 events of one source stay in order when it waits) {
  auto uut = three_ranks{small(16384)};
  uut.enroll(2, {});
  uut.readings[2].is_eager = false;
  flood(uut, rank0);
  for (auto i = 0; i < 5; ++i) {
    uut.raise(code_b, rank0, data_range::nspace, {}, 4000);
    uut.raise(code_a, rank0);
    uut.raise(code_a, rank2);
  }
  uut.readings[2].is_eager = true;
  uut.settle();
  CAF_CHECK_EQUAL(uut.readings[2].marks, uut.accepted);
  CAF_CHECK_EQUAL(uut.accepted.size(), uut.marks);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(X25 CACHE-3 who never reads costs what is on the way to it) {
  auto uut = three_ranks{};
  uut.enroll(2, {code_a});
  uut.enroll(3, {code_a});
  uut.readings[2].is_eager = false;
  for (auto i = 0; i < 2000; ++i)
    uut.raise(code_a, rank0, data_range::nspace, {}, 1000);
  CAF_CHECK(uut.readings[2].marks.size() * cost(1000)
            <= defaults::event_window + cost(1000));
  CAF_CHECK_EQUAL(uut.readings[3].marks.size(), 2000u);
}

CAF_TEST(LIM12 who takes nothing while others wait is named) {
  auto uut = three_ranks{small(16384)};
  uut.enroll(2, {code_a});
  uut.enroll(3, {code_a});
  uut.readings[2].is_eager = false;
  uut.raise(code_a, rank0);
  uut.now += std::chrono::seconds{60};
  uut.log.look_for_stalled(uut.now);
  CAF_CHECK(uut.stalled.empty()); // Nobody waits.
  flood(uut, rank0);
  uut.log.look_for_stalled(uut.now);
  CAF_CHECK_EQUAL(uut.stalled, std::vector<uint32_t>{2});
  uut.log.look_for_stalled(uut.now);
  CAF_CHECK_EQUAL(uut.stalled.size(), 1u);
}

// -- the disk ----------------------------------------------------------------

namespace {

event_log_options with_disk(size_t memory, size_t spool) {
  auto result = small(memory);
  result.per_namespace.spool = spool;
  result.per_namespace.batch = 4096;
  result.per_namespace.loaded = 8192;
  return result;
}

} // namespace

CAF_TEST(P-J1 P-J5 LIM9 what memory has no room for comes from disk) {
  auto uut = three_ranks{with_disk(16384, size_t{1} << 20)};
  uut.enroll(2, {code_a});
  uut.enroll(3, {code_a});
  uut.readings[2].is_eager = false;
  for (auto i = 0; i < 1000; ++i)
    uut.raise(code_a, rank0, data_range::nspace, {}, 200);
  CAF_CHECK_EQUAL(uut.accepted.size(), 1000u);
  CAF_CHECK(uut.counts().bytes <= 16384u);
  CAF_CHECK(uut.counts().spooled > 100000u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  CAF_CHECK_EQUAL(uut.readings[3].marks.size(), 1000u);
  uut.readings[2].is_eager = true;
  uut.settle();
  CAF_CHECK_EQUAL(uut.readings[2].marks, uut.accepted);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  uut.log.forget("job");
  uut.settle();
  CAF_CHECK(uut.disk.empty());
}

CAF_TEST(P-J5 E11 LIM9 history goes to the disk before it goes) {
  auto uut = event_desk{with_disk(16384, size_t{1} << 20)};
  uut.is_disk_slow = true;
  uut.log.await("job", {0, 1});
  uut.connect(2, rank1);
  auto raised = size_t{0};
  for (auto i = 0; i < 1000; ++i) {
    while (uut.log.is_waiting())
      CAF_REQUIRE(uut.turn_disk()); // Only the disk may be waited for.
    uut.raise(code_a, rank1, data_range::nspace, {}, 200);
    ++raised;
  }
  uut.is_disk_slow = false;
  uut.settle();
  CAF_CHECK_EQUAL(uut.accepted.size(), raised);
  uut.connect(1, rank0);
  uut.enroll(1, {code_a});
  CAF_CHECK_EQUAL(uut.readings[1].missed, 0u);
  CAF_CHECK_EQUAL(uut.readings[1].marks, uut.accepted);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(P-J5 LIM9 when the disk has no room either a source waits) {
  auto uut = three_ranks{with_disk(16384, 40000)};
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  const auto taken = flood(uut, rank0);
  CAF_CHECK(taken * cost(64) > 40000u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  uut.readings[2].is_eager = true;
  uut.settle();
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(uut.readings[2].marks, uut.accepted);
}

CAF_TEST(P-J5 E12 LIM9 a backlog beyond its bound makes sources wait) {
  auto options = with_disk(16384, size_t{1} << 20);
  options.per_namespace.backlog = 40000;
  auto uut = three_ranks{options};
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  flood(uut, rank0, 2000);
  CAF_CHECK(uut.log.is_waiting());
  CAF_CHECK(uut.counts().spooled > 30000u);
  CAF_CHECK(uut.counts().spooled <= 40000u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  uut.readings[2].is_eager = true;
  uut.settle();
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(uut.readings[2].marks, uut.accepted);
}

CAF_TEST(E11 LIM9 a backlog costs no history) {
  auto options = with_disk(16384, size_t{1} << 20);
  options.per_namespace.backlog = 40000;
  auto uut = three_ranks{options};
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  // What nobody has registered for stands behind what somebody takes.
  for (auto i = 0; i < 500; ++i) {
    uut.raise(code_a, rank0, data_range::nspace, {}, 64);
    uut.raise(code_b, rank0, data_range::nspace, {}, 64);
  }
  CAF_REQUIRE(uut.log.is_waiting());
  uut.readings[2].is_eager = true;
  uut.settle();
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(uut.counts().missed, 0u);
  uut.enroll(3, {code_a, code_b});
  CAF_CHECK_EQUAL(uut.readings[3].marks, uut.accepted);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(E11 LIM9 CACHE-5 history beyond the disk is counted) {
  auto uut = event_desk{with_disk(16384, 100000)};
  uut.log.await("job", {0, 1});
  CAF_CHECK_EQUAL(flood(uut, rank1, 1000), 1000u);
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(audit(uut.log), "");
  uut.connect(1, rank0);
  uut.enroll(1, {code_a});
  const auto& reading = uut.readings[1];
  CAF_CHECK(reading.missed > 0u);
  CAF_CHECK(reading.marks.size() * cost(64) > 90000u);
  CAF_CHECK_EQUAL(reading.missed + reading.marks.size(), 1000u);
  CAF_CHECK(std::is_sorted(reading.marks.begin(), reading.marks.end()));
}

CAF_TEST(LIM9 E11 a node that is full has its namespaces go to the disk) {
  auto options = with_disk(16384, size_t{1} << 20);
  options.node_bytes = 48000;
  auto uut = event_desk{options};
  for (auto i = 0; i < 8; ++i) {
    const auto nspace = "job" + std::to_string(i);
    uut.log.await(nspace, {0, 1});
    for (auto j = 0; j < 20; ++j)
      uut.raise(code_a, {nspace, 1}, data_range::nspace, {}, 64);
  }
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(uut.accepted.size(), 160u);
  CAF_CHECK(uut.log.budget().on_disk > 0u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  for (const auto& x : uut.log.count())
    CAF_CHECK_EQUAL(x.missed, 0u);
}

CAF_TEST(P-J5 LIM9 whom an event on disk is for counts as memory) {
  auto options = with_disk(16384, size_t{1} << 20);
  options.node_bytes = 100000;
  auto uut = event_desk{options};
  uut.log.await("job", {0, 1});
  // Each has a list of 40 bytes a target, at least, which stays in memory.
  auto targets = std::vector<proc_id>{};
  for (auto rank = 0u; rank < 100; ++rank)
    targets.push_back({"job", rank});
  for (auto i = 0; i < 100; ++i)
    uut.raise(
      code_a, rank1, data_range::custom,
      {{std::string{attr::event_custom_range}, 0, value::procs(targets)}});
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(uut.accepted.size(), 100u);
  const auto all = uut.log.count();
  const auto& of_job = all.front();
  CAF_REQUIRE_EQUAL(of_job.nspace, "job");
  CAF_CHECK(of_job.spooled > 0u);
  CAF_CHECK(of_job.entries <= 100000u / (100 * sizeof(proc_id)));
  CAF_CHECK_EQUAL(of_job.entries + of_job.missed, 100u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(LIM8 LIM9 an event for more namespaces than have room holds nobody up) {
  auto options = small(16384);
  options.node_bytes = 16384;
  auto uut = event_desk{options};
  for (auto i = 0; i < 4; ++i)
    uut.log.await("job" + std::to_string(i), {0, 1});
  CAF_CHECK(uut.raise(code_a, {"job0", 1}, data_range::session, {}, 8000)
            == outcome::taken);
  CAF_CHECK(uut.raise(code_a, {"job0", 1}, data_range::session, {}, 8000)
            == outcome::taken);
}

CAF_TEST(LIM9 the disk of a node has a budget over all namespaces) {
  auto options = with_disk(16384, size_t{1} << 20);
  options.node_spool = 100000;
  auto uut = event_desk{options};
  uut.log.await("few", {0, 1});
  CAF_CHECK_EQUAL(flood(uut, {"few", 1}, 60), 60u);
  uut.log.await("job", {0, 1});
  CAF_CHECK_EQUAL(flood(uut, rank1, 1000), 1000u);
  CAF_CHECK(!uut.log.is_waiting());
  // A batch of each namespace may be on its way.
  CAF_CHECK(uut.log.budget().on_disk <= 100000u + 2 * 4096u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  for (const auto& x : uut.log.count()) {
    if (x.nspace == "few") {
      CAF_CHECK_EQUAL(x.missed, 0u);
    } else if (x.nspace == "job") {
      CAF_CHECK(x.missed > 500u);
    }
  }
}

CAF_TEST(P-J5 LIM9 a stalled process leaves half of the disk of a node to others) {
  auto options = with_disk(16384, size_t{1} << 20);
  options.per_namespace.backlog = size_t{1} << 20;
  options.node_spool = 60000;
  auto uut = three_ranks{options};
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  flood(uut, rank0, 2000);
  CAF_REQUIRE(uut.log.is_waiting());
  CAF_CHECK(uut.counts().spooled > 20000u);
  CAF_CHECK(uut.log.budget().on_disk <= 30000u);
  // Its own job waits, another one does not.
  CAF_CHECK_EQUAL(flood(uut, {"other", 0}, 1000), 1000u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  uut.readings[2].is_eager = true;
  uut.settle();
  CAF_CHECK(!uut.log.is_waiting());
  CAF_CHECK_EQUAL(uut.readings[2].missed, 0u);
}

CAF_TEST(X47 a disk that fails makes sources wait earlier and is told once) {
  auto uut = three_ranks{with_disk(16384, size_t{1} << 20)};
  uut.is_disk_full = true;
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  const auto taken = flood(uut, rank0);
  CAF_CHECK(taken * cost(64) <= 16384u);
  CAF_CHECK_EQUAL(uut.lines.size(), 1u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
  uut.readings[2].is_eager = true;
  uut.settle();
  CAF_CHECK_EQUAL(uut.readings[2].marks, uut.accepted);
}

CAF_TEST(X46 CACHE-4 what the disk has lost is told to who was to get it) {
  auto uut = three_ranks{with_disk(16384, size_t{1} << 20)};
  uut.enroll(2, {code_a});
  uut.readings[2].is_eager = false;
  for (auto i = 0; i < 500; ++i)
    uut.raise(code_a, rank0, data_range::nspace, {}, 200);
  // What has been handed over needs no disk.
  const auto handed = uut.readings[2].marks.back();
  auto lost = size_t{0};
  for (auto i = uut.disk.begin(); i != uut.disk.end();) {
    const auto what = kept_event::of_bytes(i->second)->get(code_a, rank0);
    CAF_REQUIRE(what != nullptr);
    const auto mark = three_ranks::mark_of(*what);
    const auto is_lost = mark > handed && mark % 3 == 0;
    lost += is_lost ? 1 : 0;
    i = is_lost ? uut.disk.erase(i) : std::next(i);
  }
  CAF_REQUIRE(lost > 10u);
  uut.readings[2].is_eager = true;
  uut.settle();
  const auto& reading = uut.readings[2];
  CAF_CHECK_EQUAL(reading.missed, lost);
  CAF_CHECK_EQUAL(reading.marks.size() + lost, 500u);
  CAF_CHECK(std::is_sorted(reading.marks.begin(), reading.marks.end()));
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(P-J5 no reader of the disk starves another) {
  auto uut = three_ranks{with_disk(16384, size_t{1} << 20)};
  for (const auto id : {2u, 3u}) {
    uut.enroll(id, {code_a});
    uut.readings[id].is_eager = false;
  }
  for (auto i = 0; i < 2000; ++i)
    uut.raise(code_a, rank0, data_range::nspace, {}, 200);
  while (uut.readings[2].marks.size() < 1000)
    uut.take(2);
  uut.is_disk_slow = true;
  const auto before = uut.readings[3].marks.size();
  for (auto i = 0; i < 200; ++i) {
    uut.take(2);
    uut.take(3);
    uut.turn_disk();
  }
  CAF_CHECK(uut.readings[3].marks.size() > before + 100);
  uut.is_disk_slow = false;
  for (const auto id : {2u, 3u})
    uut.readings[id].is_eager = true;
  uut.settle();
  CAF_CHECK_EQUAL(uut.readings[3].marks.size(), 2000u);
}

// -- the environment ---------------------------------------------------------

CAF_TEST(E9 E44 LIM10 the ring keeps the newest 512 events of the environment) {
  auto uut = three_ranks{};
  for (auto i = 0; i < 600; ++i)
    uut.tell(hot);
  uut.enroll(1, {hot}, {false, true});
  CAF_CHECK_EQUAL(uut.readings[1].marks.size(), 512u);
  CAF_CHECK_EQUAL(uut.readings[1].marks.front(), 89u);
  CAF_CHECK_EQUAL(uut.readings[1].missed, 88u);
}

CAF_TEST(E10 the ring has the size that it is given) {
  for (const auto size : {size_t{0}, size_t{1}, size_t{16}, size_t{1000}}) {
    auto options = event_log_options{};
    options.ring_size = size;
    auto uut = three_ranks{options};
    uut.enroll(2, {hot}, {false, true});
    for (auto i = 0; i < 1200; ++i)
      uut.tell(hot);
    CAF_CHECK_EQUAL(uut.readings[2].marks.size(), 1200u);
    uut.enroll(1, {hot}, {false, true});
    CAF_CHECK_EQUAL(uut.readings[1].marks.size(), size);
    CAF_CHECK_EQUAL(audit(uut.log), "");
  }
}

CAF_TEST(P-E1 E44 the storm of one code leaves the others alone) {
  auto options = event_log_options{};
  options.ring_size = 64;
  auto uut = three_ranks{options};
  constexpr auto rare = static_cast<status>(-300);
  for (auto i = 0; i < 20; ++i)
    uut.tell(rare);
  for (auto i = 0; i < 10000; ++i)
    uut.tell(hot);
  uut.enroll(1, {rare}, {false, true});
  CAF_CHECK_EQUAL(uut.readings[1].marks.size(), 20u);
  CAF_CHECK_EQUAL(uut.readings[1].missed, 0u);
  uut.enroll(1, {hot}, {false, true});
  CAF_CHECK_EQUAL(uut.readings[1].marks.size(), 64u);
  CAF_CHECK_EQUAL(uut.readings[1].missed, 10000u - 44u);
}

CAF_TEST(P-E1 CACHE-4 a slow process is told how much of a storm it missed) {
  auto options = event_log_options{};
  options.ring_size = 16;
  options.window = 1;
  auto uut = three_ranks{options};
  uut.enroll(1, {hot}, {false, true});
  uut.readings[1].is_eager = false;
  for (auto i = 0; i < 100; ++i)
    uut.tell(hot);
  CAF_CHECK_EQUAL(uut.readings[1].marks, mark_list{1});
  uut.readings[1].is_eager = true;
  uut.settle();
  CAF_CHECK_EQUAL(uut.readings[1].marks.size() + uut.readings[1].missed, 100u);
  CAF_CHECK_EQUAL(uut.readings[1].marks.back(), 100u);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(E48 an event of the environment goes at once to who registered) {
  auto uut = three_ranks{};
  uut.enroll(1, {hot}, {true, true});
  uut.enroll(2, {}, {true, false});
  uut.enroll(3, {}, {true, true});
  uut.tell(hot);
  CAF_CHECK_EQUAL(uut.got(1), mark_list{1});
  CAF_CHECK_EQUAL(uut.got(2), mark_list{});
  CAF_CHECK_EQUAL(uut.got(3), mark_list{1});
}

CAF_TEST(P-J3 events of jobs and of the environment come in one order) {
  auto options = event_log_options{};
  options.window = 1;
  auto uut = three_ranks{options};
  uut.enroll(1, {hot, code_a}, {true, true});
  uut.readings[1].is_eager = false;
  for (auto i = 0; i < 10; ++i) {
    uut.tell(hot);
    uut.raise(code_a, rank1);
  }
  uut.readings[1].is_eager = true;
  uut.settle();
  CAF_CHECK_EQUAL(uut.readings[1].marks, uut.accepted);
}

// -- registrations -----------------------------------------------------------

CAF_TEST(E5 E6 A7 A8 keys choose between jobs and the environment) {
  const auto levels = [](std::optional<bool> job,
                         std::optional<bool> environment, bool is_default) {
    auto directives = std::vector<info>{};
    if (job)
      directives.push_back(with(attr::event_job_level, value::boolean(*job)));
    if (environment)
      directives.push_back(
        with(attr::event_enviro_level, value::boolean(*environment)));
    const auto x = levels_of(directives, is_default);
    if (!x)
      return to_string(status_of(x.error()));
    return std::string{x->job ? "job" : ""}
           + (x->environment ? "environment" : "");
  };
  const auto bad = to_string(status::bad_param);
  CAF_CHECK_EQUAL(levels({}, {}, true), "job");
  CAF_CHECK_EQUAL(levels({}, {}, false), "jobenvironment");
  for (const auto is_default : {true, false}) {
    CAF_CHECK_EQUAL(levels(true, {}, is_default), "job");
    CAF_CHECK_EQUAL(levels({}, true, is_default), "environment");
    CAF_CHECK_EQUAL(levels(true, true, is_default), "jobenvironment");
    CAF_CHECK_EQUAL(levels({}, false, is_default), "job");
    CAF_CHECK_EQUAL(levels(true, false, is_default), "job");
    CAF_CHECK_EQUAL(levels(false, true, is_default), "environment");
    CAF_CHECK_EQUAL(levels(false, false, is_default), bad);
    CAF_CHECK_EQUAL(levels(false, {}, is_default), bad);
  }
}

CAF_TEST(E40 the host gets what is meant for it and no more) {
  auto options = event_log_options{};
  options.server = {"server", 0};
  auto uut = three_ranks{options};
  uut.connect(0, options.server);
  uut.enroll(0, {});
  uut.raise(code_a, rank0, data_range::global);
  uut.raise(code_a, rank0);
  uut.raise(code_a, rank0, data_range::custom,
            {with(attr::event_custom_range, value::procs({options.server}))});
  CAF_CHECK_EQUAL(uut.got(0), mark_list{3});
  uut.enroll(0, {code_b});
  uut.raise(code_b, rank0, data_range::global);
  CAF_CHECK_EQUAL(uut.got(0), mark_list{4});
  // What it raised does not come back to it.
  uut.tell(code_b);
  CAF_CHECK_EQUAL(uut.got(0), mark_list{});
}

CAF_TEST(TRC-1 an event is noted when it is kept and when a process gets it) {
  auto options = event_log_options{};
  const auto trace =
    std::make_shared<trace_ring>([] { return int64_t{0}; }, 3, 64);
  options.trace = trace;
  auto uut = three_ranks{options};
  uut.enroll(2, {code_a});
  const auto way = [&](const trace_id& id) {
    auto result = std::string{};
    for (const auto& x : trace->steps_of(id))
      result += trace->text_of(x) + "\n";
    return result;
  };
  auto x = offered_event{};
  x.what = uut.make(code_a, rank0);
  x.stream = "host";
  x.is_from_host = true;
  const auto name = trace->event("job", 7, 1);
  x.mark = {name.name, name.number, name.node};
  uut.offer(std::move(x));
  uut.raise(code_a, rank0);
  CAF_CHECK_EQUAL(way(name), "in the log of this node as 1\n"
                             "handed to job:1 (1 of the log)\n");
  CAF_CHECK_EQUAL(way(trace->local_event("job", 2)),
                  "job:0 has raised it\nin the log of this node as 2\n"
                  "handed to job:1 (2 of the log)\n");
}

CAF_TEST(LIM6 a site may set how many codes a process registers) {
  auto options = event_log_options{};
  options.codes_per_client = 2;
  auto uut = three_ranks{options};
  CAF_CHECK(!uut.enroll(1, {code_a, code_b}));
  CAF_CHECK(!uut.enroll(1, {code_a})); // Once more.
  CAF_CHECK(uut.enroll(1, {static_cast<status>(-6000)}));
  CAF_CHECK(!uut.enroll(2, {static_cast<status>(-6000)}));
  // Cursors of codes that are not registered any more give way.
  for (auto i = 0; i < 100; ++i) {
    const auto code = static_cast<status>(-10000 - i);
    uut.log.unsubscribe(1, {code_b});
    CAF_CHECK(!uut.enroll(1, {code}));
    uut.log.unsubscribe(1, {code});
  }
  CAF_CHECK_EQUAL(audit(uut.log), "");
}

CAF_TEST(LIM6 X22 registrations beyond the limit change nothing) {
  auto uut = three_ranks{};
  auto codes = std::vector<status>{};
  for (size_t i = 0; i < defaults::event_codes_per_client; ++i)
    codes.push_back(static_cast<status>(-6000 - static_cast<int>(i)));
  CAF_CHECK(!uut.enroll(1, codes));
  CAF_CHECK(!uut.enroll(1, codes)); // The same again.
  CAF_CHECK(uut.enroll(1, {code_a}));
  uut.raise(code_a, rank1);
  CAF_CHECK_EQUAL(uut.got(1), mark_list{});
  // Codes come and go without end, and the cursors of old ones do not pile up.
  uut.log.unsubscribe(1, codes);
  auto refused = 0;
  for (auto i = 0; i < 100000; ++i) {
    const auto code = static_cast<status>(-10000 - i);
    refused += uut.enroll(1, {code}) ? 1 : 0;
    uut.log.unsubscribe(1, {code, code_b, static_cast<status>(i)});
  }
  CAF_CHECK_EQUAL(refused, 0);
  CAF_CHECK_EQUAL(audit(uut.log), "");
}
