// Who gets which event, in which order, and how often.

#include "actors/events/event_cache.hpp"

#include "actors/events/defaults.hpp"
#include "actors/events/event_log.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <map>
#include <optional>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

// Of programs: those of the runtime are not theirs to raise for all.
constexpr auto code_a = static_cast<status>(-4711);
constexpr auto code_b = static_cast<status>(-4712);

struct fixture : deterministic {
  node uut{*this};
  std::vector<peer_ptr> ranks;
  peer_ptr stranger;

  fixture() {
    uut.add_job("job", 3);
    uut.add_job("other", 1);
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank)
      ranks.push_back(uut.connect("job", rank));
    stranger = uut.connect("other", 0);
    consume_messages();
  }

  status enroll(const peer_ptr& who, std::vector<status> codes) {
    const auto x =
      uut.ask<ack>(who, register_events_request{std::move(codes), {}});
    consume_messages();
    return x->code;
  }

  void withdraw(const peer_ptr& who, std::vector<status> codes) {
    caf::anon_send(who->session, deregister_events_request{std::move(codes)});
    consume_messages();
  }

  status notify(const peer_ptr& from, status code,
                data_range range = data_range::global,
                std::vector<info> infos = {}) {
    const auto x =
      uut.ask<ack>(from, notify_request{code, range, std::move(infos)});
    consume_messages();
    return x->code;
  }

  /// An event of the resource manager.
  void deliver(status code, std::vector<proc_id> targets = {},
               std::vector<info> infos = {}) {
    caf::anon_send(
      uut.events,
      deliver_event{
        {code, {"", rank_undef}, data_range::global, std::move(infos)},
        std::move(targets)});
    consume_messages();
  }

  /// The codes that a process got, as numbers in order; then forgets them.
  std::string got(const peer_ptr& who) {
    std::string result;
    for (const auto& x : who->wire->events)
      result += (result.empty() ? "" : " ")
                + std::to_string(static_cast<int32_t>(x.code));
    who->wire->events.clear();
    return result;
  }

  static std::string numbers(const std::vector<status>& codes) {
    std::string result;
    for (const auto x : codes)
      result +=
        (result.empty() ? "" : " ") + std::to_string(static_cast<int32_t>(x));
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(event_cache_tests, fixture)

// -- who ---------------------------------------------------------------------

CAF_TEST(F4.37 who registered for a code gets it) {
  enroll(ranks[0], {code_a});
  enroll(ranks[1], {code_b});
  CAF_CHECK_EQUAL(notify(ranks[2], code_a), status::success);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  CAF_CHECK_EQUAL(got(ranks[1]), "");
  CAF_CHECK_EQUAL(got(ranks[2]), "");
}

CAF_TEST(LOAD-2 what has come of events is counted) {
  const auto counts = [this] {
    auto result = std::map<std::string, uint64_t>{};
    for (const auto& x : request<gauge_list>(uut.events, get_gauges{}).gauges)
      result[x.name] = x.value;
    return result;
  };
  enroll(ranks[0], {code_a});
  enroll(ranks[1], {code_a});
  auto before = counts();
  notify(ranks[2], code_a);
  notify(ranks[2], code_b);
  deliver(code_a);
  auto after = counts();
  const auto more = [&](const std::string& name) {
    return after.at(name) - before.at(name);
  };
  CAF_CHECK_EQUAL(more("events.raised"), 2u);
  CAF_CHECK_EQUAL(more("events.offered"), 3u);
  CAF_CHECK_EQUAL(more("events.delivered"), 4u);
  CAF_CHECK_EQUAL(after.at("events.missed"), 0u);
}

CAF_TEST(E35 E7 whoever names the code of default handlers means them) {
  enroll(ranks[0], {default_events});
  enroll(ranks[0], {});
  notify(ranks[2], code_a);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  // They do not ask for the environment.
  deliver(static_cast<status>(-250));
  CAF_CHECK_EQUAL(got(ranks[0]), "");
  withdraw(ranks[0], {default_events});
  notify(ranks[2], code_a);
  CAF_CHECK_EQUAL(got(ranks[0]), "");
}

CAF_TEST(F4.37 an event names its source and carries its infos) {
  enroll(ranks[0], {code_a});
  notify(ranks[2], code_a, data_range::nspace,
         {with("my.key", value::uint32(7))});
  CAF_REQUIRE_EQUAL(ranks[0]->wire->events.size(), 1u);
  const auto& x = ranks[0]->wire->events[0];
  CAF_CHECK(x.source == (proc_id{"job", 2}));
  CAF_CHECK(number<uint32_t>(x.infos, "my.key") == 7u);
  CAF_CHECK(x.range == data_range::nspace);
}

CAF_TEST(F4.37 a default registration gets every code but the reserved) {
  enroll(ranks[0], {});
  notify(ranks[2], code_a);
  notify(ranks[2], code_b, data_range::global, {with(attr::event_non_default)});
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  enroll(ranks[0], {code_b});
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_b})); // Kept for it.
}

CAF_TEST(F4.37 the notifier does not get its own event) {
  enroll(ranks[0], {code_a});
  notify(ranks[0], code_a);
  CAF_CHECK_EQUAL(got(ranks[0]), "");
  const auto clone = uut.connect("job", 0);
  consume_messages();
  enroll(clone, {code_a});
  CAF_CHECK_EQUAL(got(clone), "");
}

CAF_TEST(F4.37 a range bounds who gets it) {
  for (const auto& x : {ranks[0], ranks[1], stranger})
    enroll(x, {code_a});
  notify(ranks[2], code_a, data_range::nspace);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  CAF_CHECK_EQUAL(got(stranger), "");
  notify(ranks[2], code_a, data_range::session);
  CAF_CHECK_EQUAL(got(stranger), numbers({code_a}));
  got(ranks[0]);
  notify(ranks[2], code_a, data_range::custom,
         {with(attr::event_custom_range,
               value::procs({{"job", 1}, {"other", rank_wildcard}}))});
  CAF_CHECK_EQUAL(got(ranks[0]), "");
  CAF_CHECK_EQUAL(got(stranger), numbers({code_a}));
  notify(ranks[2], code_a, data_range::proc_local);
  CAF_CHECK_EQUAL(got(ranks[0]), "");
}

CAF_TEST(F5.23 the resource manager may name whom an event is for) {
  for (const auto& x : {ranks[0], ranks[1], stranger})
    enroll(x, {code_a});
  deliver(code_a, {{"job", rank_wildcard}});
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  CAF_CHECK_EQUAL(got(ranks[1]), numbers({code_a}));
  CAF_CHECK_EQUAL(got(stranger), "");
  deliver(code_a);
  CAF_CHECK_EQUAL(got(stranger), numbers({code_a}));
}

// 2.T, trap 19: a handler reads the source unchecked.
CAF_TEST(F4.37 an event of the resource manager has a source that is nobody) {
  enroll(ranks[0], {code_a});
  deliver(code_a);
  CAF_REQUIRE_EQUAL(ranks[0]->wire->events.size(), 1u);
  CAF_CHECK(ranks[0]->wire->events[0].source == (proc_id{"", rank_undef}));
}

// -- the host ----------------------------------------------------------------

// 2.T, trap 9: Open MPI notifies locally and does not wait.
CAF_TEST(F4.37 only what may leave the node goes to the host) {
  for (const auto range : {data_range::local, data_range::proc_local})
    CAF_CHECK_EQUAL(notify(ranks[0], code_a, range), status::success);
  notify(ranks[0], code_a, data_range::global, {with(attr::event_stays_local)});
  CAF_CHECK(uut.host_play->requests.empty());
  for (const auto range : {data_range::nspace, data_range::session,
                           data_range::global, data_range::rm})
    notify(ranks[0], code_a, range);
  CAF_CHECK_EQUAL(uut.host_play->requests.size(), 4u);
  uut.host_play->others = status::not_supported;
  CAF_CHECK_EQUAL(notify(ranks[0], code_a), status::not_supported);
}

CAF_TEST(F4.37 who has ended is not remembered as a process of this node) {
  uut.add_job("wide", 2, our_uid, {}, 1);
  consume_messages();
  const auto from = uut.connect("wide", 0);
  consume_messages();
  uut.host_play->others = status::not_supported;
  const auto tell = [&](uint32_t rank) {
    return notify(
      from, code_a, data_range::custom,
      {with(attr::event_custom_range, value::procs({proc_id{"wide", rank}}))});
  };
  // A host is not needed for those that are here.
  CAF_CHECK_EQUAL(tell(1), status::success);
  CAF_CHECK_EQUAL(tell(2), status::not_supported);
  caf::anon_send(uut.events, proc_ended{{"wide", 1}, proc_state::terminated});
  consume_messages();
  CAF_CHECK_EQUAL(tell(1), status::not_supported);
  // Until it is started anew.
  caf::anon_send(uut.events, expect_procs{"wide", {1}, false});
  consume_messages();
  CAF_CHECK_EQUAL(tell(1), status::success);
}

// -- late registrations ------------------------------------------------------

CAF_TEST(F4.37 who registers late gets what was before in order) {
  notify(ranks[2], code_a);
  notify(ranks[2], code_b);
  notify(ranks[2], code_a);
  enroll(ranks[0], {code_a, code_b});
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a, code_b, code_a}));
}

CAF_TEST(F4.37 events that come together go out together and in order) {
  enroll(ranks[0], {code_a, code_b});
  enroll(ranks[1], {code_b});
  for (auto i = 0; i < 30; ++i)
    caf::anon_send(uut.events, deliver_event{{i % 3 == 0 ? code_b : code_a,
                                              {"", rank_undef},
                                              data_range::global,
                                              {with("n", value::uint32(i))}},
                                             {}});
  consume_messages();
  CAF_CHECK_EQUAL(ranks[0]->wire->batches, 1u);
  CAF_CHECK_EQUAL(ranks[1]->wire->batches, 1u);
  CAF_REQUIRE_EQUAL(ranks[0]->wire->events.size(), 30u);
  CAF_REQUIRE_EQUAL(ranks[1]->wire->events.size(), 10u);
  for (uint32_t i = 0; i < 30; ++i)
    CAF_CHECK(ranks[0]->wire->events[i].infos.at(0).val == value::uint32(i));
  for (uint32_t i = 0; i < 10; ++i)
    CAF_CHECK(ranks[1]->wire->events[i].infos.at(0).val
              == value::uint32(3 * i));
}

CAF_TEST(F4.37 who goes while events are on their way holds nobody up) {
  enroll(ranks[0], {code_a});
  enroll(ranks[1], {code_a});
  for (auto i = 0; i < 5; ++i)
    caf::anon_send(
      uut.events,
      deliver_event{{code_a, {"", rank_undef}, data_range::global, {}}, {}});
  caf::anon_send(ranks[0]->session, connection_lost{});
  consume_messages();
  CAF_CHECK_EQUAL(ranks[1]->wire->events.size(), 5u);
  notify(ranks[2], code_a);
  CAF_CHECK_EQUAL(ranks[1]->wire->events.size(), 6u);
}

CAF_TEST(F4.37 nothing comes twice) {
  enroll(ranks[0], {code_a});
  notify(ranks[2], code_a);
  enroll(ranks[0], {code_a});
  enroll(ranks[0], {});
  enroll(ranks[0], {code_a, code_b});
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
}

CAF_TEST(F4.37 a code registered later gets what it missed) {
  enroll(ranks[0], {code_a});
  notify(ranks[2], code_b);
  notify(ranks[2], code_a);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  enroll(ranks[0], {code_b});
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_b}));
}

CAF_TEST(F4.37 a late registration gets only what was for it) {
  notify(ranks[2], code_a, data_range::nspace);
  notify(ranks[2], code_b, data_range::custom,
         {with(attr::event_custom_range, value::procs({{"job", 1}}))});
  enroll(stranger, {});
  enroll(ranks[0], {});
  enroll(ranks[1], {});
  CAF_CHECK_EQUAL(got(stranger), "");
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  CAF_CHECK_EQUAL(got(ranks[1]), numbers({code_a, code_b}));
}

CAF_TEST(F4.37 an event that is not to be kept is not kept) {
  enroll(ranks[1], {code_a});
  notify(ranks[2], code_a, data_range::global,
         {with(attr::event_do_not_cache)});
  CAF_CHECK_EQUAL(got(ranks[1]), numbers({code_a}));
  enroll(ranks[0], {code_a});
  CAF_CHECK_EQUAL(got(ranks[0]), "");
}

CAF_TEST(E11 job events are kept whatever their number) {
  constexpr auto count = defaults::event_cache_size + 10;
  for (size_t i = 0; i < count; ++i)
    uut.ask<ack>(
      ranks[2], notify_request{static_cast<status>(-5000 - static_cast<int>(i)),
                               data_range::nspace,
                               {}});
  consume_messages();
  enroll(ranks[0], {});
  const auto& events = ranks[0]->wire->events;
  CAF_REQUIRE_EQUAL(events.size(), count);
  for (size_t i = 0; i < events.size(); ++i)
    CAF_CHECK(static_cast<int>(events[i].code) == -5000 - static_cast<int>(i));
}

CAF_TEST(F4.37 events for a job that is gone are gone) {
  notify(stranger, code_a);
  notify(stranger, code_b, data_range::nspace);
  uut.tell<ack>(deregister_nspace{"other"});
  consume_messages();
  uut.add_job("next", 1);
  consume_messages();
  const auto newcomer = uut.connect("next", 0);
  consume_messages();
  enroll(newcomer, {});
  CAF_CHECK_EQUAL(got(newcomer), "");
  // Those for other jobs are theirs.
  enroll(ranks[0], {});
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
}

// -- the end of a registration -----------------------------------------------

CAF_TEST(F4.37 who withdraws a code gets it no more) {
  enroll(ranks[0], {code_a, code_b});
  withdraw(ranks[0], {code_a});
  notify(ranks[2], code_a);
  notify(ranks[2], code_b);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_b}));
}

CAF_TEST(F4.37 who withdraws its default handlers keeps the others) {
  enroll(ranks[0], {});
  enroll(ranks[0], {code_a});
  withdraw(ranks[0], {default_events});
  notify(ranks[2], code_a);
  notify(ranks[2], code_b);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
}

CAF_TEST(F4.37 withdrawing what was never registered is harmless) {
  withdraw(ranks[0], {code_a, default_events});
  enroll(ranks[0], {code_b});
  withdraw(ranks[0], {code_a});
  notify(ranks[2], code_b);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_b}));
}

CAF_TEST(F4.37 X35 who has gone gets nothing and comes back as new) {
  enroll(ranks[0], {code_a});
  uut.lose(ranks[0], true);
  consume_messages();
  notify(ranks[2], code_a);
  CAF_CHECK_EQUAL(got(ranks[0]), "");
  const auto again = uut.connect("job", 0);
  consume_messages();
  enroll(again, {code_a});
  CAF_CHECK_EQUAL(got(again), numbers({code_a}));
}

CAF_TEST(LIM6 X22 registrations are bounded) {
  std::vector<status> codes;
  for (size_t i = 0; i < defaults::event_codes_per_client; ++i)
    codes.push_back(static_cast<status>(-5000 - static_cast<int>(i)));
  CAF_CHECK_EQUAL(enroll(ranks[0], codes), status::success);
  CAF_CHECK_EQUAL(enroll(ranks[0], {code_a}), status::out_of_resource);
  notify(ranks[2], code_a);
  CAF_CHECK_EQUAL(got(ranks[0]), "");
  CAF_CHECK_EQUAL(enroll(ranks[1], {code_a}), status::success);
  CAF_CHECK_EQUAL(got(ranks[1]), numbers({code_a}));
}

// -- kinds of events ---------------------------------------------------------

CAF_TEST(E5 E6 A7 a default handler gets the environment only if it asks) {
  const auto with_keys = [&](const peer_ptr& who, std::vector<info> keys) {
    const auto x =
      uut.ask<ack>(who, register_events_request{{}, std::move(keys)});
    consume_messages();
    return x->code;
  };
  const auto yes = value::boolean(true);
  CAF_CHECK_EQUAL(with_keys(ranks[0], {with(attr::event_job_level, yes)}),
                  status::success);
  CAF_CHECK_EQUAL(with_keys(ranks[1], {with(attr::event_enviro_level, yes)}),
                  status::success);
  CAF_CHECK_EQUAL(
    with_keys(stranger, {with(attr::event_job_level, value::boolean(false))}),
    status::bad_param);
  deliver(status::event_sys_other);
  deliver(code_a, {{"job", rank_wildcard}});
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  CAF_CHECK_EQUAL(got(ranks[1]), numbers({status::event_sys_other}));
}

CAF_TEST(E4 E42 the host is asked for the environment while somebody wants it) {
  const auto asked = [&] {
    auto result = std::string{};
    for (const auto& [who, what] : uut.host_play->requests)
      result += what.substr(0, 3) + " ";
    uut.host_play->requests.clear();
    return result;
  };
  enroll(ranks[0], {code_a});
  CAF_CHECK_EQUAL(asked(), "");
  enroll(ranks[0], {status::event_sys_other});
  CAF_CHECK_EQUAL(asked(), "reg ");
  enroll(ranks[1], {status::event_sys_other, code_a});
  CAF_CHECK_EQUAL(asked(), "");
  withdraw(ranks[0], {status::event_sys_other});
  CAF_CHECK_EQUAL(asked(), "");
  uut.lose(ranks[1]);
  consume_messages();
  CAF_CHECK(asked().find("der") != std::string::npos);
  enroll(ranks[0], {status::event_sys_other});
  CAF_CHECK_EQUAL(asked(), "reg ");
}

CAF_TEST(E46 a tool that registers late gets what was for it) {
  const auto tool = uut.connect(node::tool_greeting());
  consume_messages();
  CAF_REQUIRE_EQUAL(tool->code, status::success);
  deliver(
    status::job_end, {tool->accepted.proc},
    {with(attr::event_affected_proc, value::of_proc({"over", rank_wildcard})),
     with(attr::event_non_default, value::boolean(true))});
  // The job's own namespace comes and goes meanwhile.
  uut.tell<ack>(deregister_nspace{"other"});
  consume_messages();
  const auto x = uut.ask<ack>(
    tool,
    register_events_request{{status::job_end},
                            {with(attr::event_affected_proc,
                                  value::of_proc({"over", rank_wildcard}))}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(got(tool), numbers({status::job_end}));
}

// -- the way to a process ----------------------------------------------------

CAF_TEST(E43 cached events follow the acknowledgement) {
  notify(ranks[2], code_a);
  notify(ranks[2], code_b);
  const auto x = uut.ask<ack>(ranks[0], register_events_request{{}, {}});
  auto events_at_answer = std::optional<size_t>{};
  while (sched.has_job()) {
    sched.run_once();
    if (!events_at_answer && x->code == status::success)
      events_at_answer = ranks[0]->wire->events.size();
  }
  CAF_CHECK(events_at_answer == 0u);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a, code_b}));
}

CAF_TEST(P-J5 X25 who does not read is given no more than fits on the way) {
  enroll(ranks[0], {code_a});
  enroll(ranks[1], {code_a});
  ranks[0]->wire->is_stuck = true;
  for (auto i = 0; i < 1000; ++i)
    uut.ask<ack>(ranks[2], notify_request{
                             code_a,
                             data_range::nspace,
                             {with("x", value::bytes(std::string(500, 'x')))}});
  consume_messages();
  CAF_CHECK(ranks[0]->wire->events.size() * 500 <= defaults::event_window);
  CAF_CHECK_EQUAL(ranks[1]->wire->events.size(), 1000u);
  ranks[0]->wire->is_stuck = false;
  caf::anon_send(
    ranks[0]->session,
    events_taken{ranks[0]->wire->taken = ranks[0]->wire->events.size()});
  consume_messages();
  CAF_CHECK_EQUAL(ranks[0]->wire->events.size(), 1000u);
}

CAF_TEST(E52 an event is not answered by whom it is for) {
  enroll(ranks[0], {code_a});
  const auto before = uut.host_play->requests.size();
  notify(ranks[2], code_a, data_range::local);
  CAF_CHECK_EQUAL(got(ranks[0]), numbers({code_a}));
  CAF_CHECK_EQUAL(uut.host_play->requests.size(), before);
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

/// A log with hardly any room.
struct small_fixture : deterministic {
  static event_cache_options small() {
    auto result = event_cache_options{};
    result.log.per_namespace.memory = 20000;
    return result;
  }

  node uut{*this, small()};
  peer_ptr source;
  peer_ptr reader;

  small_fixture() {
    uut.add_job("job", 2);
    consume_messages();
    source = uut.connect("job", 0);
    reader = uut.connect("job", 1);
    consume_messages();
    uut.ask<ack>(reader, register_events_request{{code_a}, {}});
    consume_messages();
    reader->wire->is_stuck = true;
  }

  /// Raises events until one is not answered.
  /// @returns that answer.
  pending<ack> flood() {
    for (auto i = 0; i < 1000; ++i) {
      auto x = uut.ask<ack>(
        source,
        notify_request{code_a,
                       data_range::local,
                       {with("x", value::bytes(std::string(64, 'x')))}});
      consume_messages();
      if (x->code == status::operation_in_progress)
        return x;
    }
    CAF_FAIL("nothing holds the source back");
    return {};
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(event_cache_budget_tests, small_fixture)

CAF_TEST(P-J5 X21 the answer to a notification waits for room) {
  const auto held = flood();
  reader->wire->is_stuck = false;
  caf::anon_send(reader->session, events_taken{reader->wire->taken =
                                                 reader->wire->events.size()});
  consume_messages();
  CAF_CHECK_EQUAL(held->code, status::success);
}

CAF_TEST(P-J5 a delivery of the host waits for room) {
  flood();
  const auto x =
    ask<ack>(sys, uut.events,
             deliver_event{{code_a, {"job", 0}, data_range::nspace, {}}, {}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::operation_in_progress);
  uut.lose(reader);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(LIM12 who takes nothing for 30 seconds is named) {
  flood();
  const auto named = [&] {
    return std::count_if(
      uut.lines->begin(), uut.lines->end(), [](const std::string& x) {
        return x.find("job:1 takes no events") != std::string::npos;
      });
  };
  elapse(std::chrono::seconds{29});
  CAF_CHECK_EQUAL(named(), 0);
  elapse(std::chrono::seconds{6});
  CAF_CHECK_EQUAL(named(), 1);
  elapse(std::chrono::seconds{100});
  CAF_CHECK_EQUAL(named(), 1);
  uut.lose(reader);
  consume_messages();
}

CAF_TEST(LIM8 an event of more than 1 MiB is refused) {
  const auto x = uut.ask<ack>(
    source,
    notify_request{
      code_a,
      data_range::local,
      {with("x", value::bytes(std::string(defaults::event_bytes, 'x')))}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::out_of_resource);
}

CAF_TEST(LIM9 the log tells tools what it holds) {
  flood();
  const auto x = uut.ask<info_result>(
    source, query_request{{{{"troupe.event.counts"}, {}}}});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto* all = find(x->value.infos, "troupe.event.counts");
  CAF_REQUIRE(all != nullptr);
  CAF_CHECK(all->array() != nullptr);
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

struct ordered_fixture : deterministic {
  static event_cache_options ordered() {
    auto result = event_cache_options{};
    result.host_orders_events = true;
    return result;
  }

  node uut{*this, ordered()};
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(event_cache_order_tests, ordered_fixture)

CAF_TEST(P-J3 what leaves the node comes back from the host that orders it) {
  uut.add_job("job", 2);
  consume_messages();
  const auto source = uut.connect("job", 0);
  const auto reader = uut.connect("job", 1);
  consume_messages();
  uut.ask<ack>(reader, register_events_request{{code_a}, {}});
  consume_messages();
  const auto x =
    uut.ask<ack>(source, notify_request{code_a, data_range::nspace, {}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(uut.host_play->requests.size(), 1u);
  CAF_CHECK(reader->wire->events.empty());
  // One for this node only must not overtake it.
  uut.ask<ack>(source, notify_request{code_a, data_range::local, {}});
  consume_messages();
  CAF_CHECK_EQUAL(uut.host_play->requests.size(), 2u);
  CAF_CHECK(reader->wire->events.empty());
  ask<ack>(sys, uut.events,
           deliver_event{{code_a, {"job", 0}, data_range::nspace, {}}, {}});
  consume_messages();
  CAF_CHECK_EQUAL(reader->wire->events.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
