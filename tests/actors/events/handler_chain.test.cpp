// One event at a time through the handlers of a process.

#include "actors/events/handler_chain.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/deterministic.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto code_a = status::proc_aborted;
constexpr auto code_b = status::err_node_down;

const auto own = proc_id{"job", 0};
const auto server = proc_id{"server", 0};

info directive(std::string_view key, value x = value::boolean(true)) {
  return {std::string{key}, 0, std::move(x)};
}

/// Runs handlers as a program would: notes every call; completes it at once, or
/// keeps it until the test completes it.
struct program {
  /// What a handler was given; the infos as they were then.
  struct call {
    uint64_t id = 0;
    uint64_t walk = 0;
    uint64_t turn = 0;
    status code = status::success;
    event what;
    std::vector<info> results;
  };

  std::vector<call> calls;
  std::vector<std::string> journal;
  std::map<uint64_t, handler_verdict> verdicts;
  std::set<uint64_t> slow;
  std::deque<call> kept;
  std::vector<uint64_t> ended;
  std::vector<event_intake> intakes;

  /// Runs within the next call.
  std::function<void()> inside;

  std::optional<handler_verdict> run(const handler_turn& x) {
    calls.push_back({x.handler, x.walk, x.turn, x.code, x.what, x.results});
    journal.push_back(std::to_string(x.handler) + "/"
                      + std::to_string(static_cast<int>(x.code)));
    if (const auto f = std::exchange(inside, nullptr))
      f();
    if (slow.count(x.handler) > 0) {
      kept.push_back(calls.back());
      return std::nullopt;
    }
    return verdicts[x.handler];
  }
};

/// What the session is asked, and what it answers.
struct link_play {
  std::vector<register_events_request> registered;
  std::vector<status> deregistered;
  status answer = status::success;
  bool is_slow = false;
  std::deque<caf::typed_response_promise<ack>> kept;
  event_session_actor::pointer self = nullptr;
};

event_session_actor::behavior_type session(event_session_actor::pointer self,
                                           link_play* state) {
  return {
    [=](register_events_request& x) -> caf::result<ack> {
      state->registered.push_back(std::move(x));
      if (state->is_slow) {
        state->self = self;
        state->kept.push_back(self->make_response_promise<ack>());
        return state->kept.back();
      }
      if (state->answer != status::success)
        return make_error(state->answer);
      return ack{};
    },
    [=](deregister_events_request& x) {
      for (const auto code : x.codes)
        state->deregistered.push_back(code);
    },
  };
}

struct fixture : deterministic {
  program app;
  link_play wire;
  std::vector<std::string> lines;
  handler_chain_options options = handler_chain_options::with_defaults();
  event_session_actor link;
  handler_chain_actor uut;

  fixture() {
    options.log = [this](severity, const std::string& x) {
      lines.push_back(x);
    };
    options.run = [this](const handler_turn& x) { return app.run(x); };
    options.on_end = [this](uint64_t x) { app.ended.push_back(x); };
    options.on_intake = [this](event_intake x) { app.intakes.push_back(x); };
    link = sys.spawn(session, &wire);
    start();
  }

  ~fixture() override {
    wire.kept.clear();
  }

  void start() {
    uut = spawn_handler_chain(sys, link, options);
    caf::anon_send(uut, connect_accepted{own, server, 0});
    consume_messages();
  }

  uint64_t add(std::vector<status> codes, std::string name = {},
               std::vector<info> directives = {}, uint64_t function = 0) {
    if (!name.empty())
      directives.push_back(
        directive(attr::event_hdlr_name, value::string(std::move(name))));
    const auto id = request<handler_registered>(
                      uut, register_handler{std::move(codes),
                                            std::move(directives), function})
                      .id;
    make_ready(id);
    return id;
  }

  /// The program knows of a handler.
  void make_ready(uint64_t id) {
    caf::anon_send(uut, handler_registered{id});
    consume_messages();
  }

  /// Registers without waiting for the answer; the program is ready once it
  /// comes.
  void begin_add(std::vector<status> codes) {
    sys.spawn([this, codes](caf::event_based_actor* x) {
      x->request(uut, caf::infinite, register_handler{codes, {}, 0})
        .then([this](const handler_registered& y) {
          app.journal.push_back("registered");
          caf::anon_send(uut, y);
        });
    });
    consume_messages();
  }

  void raise(status code, std::vector<info> infos = {},
             data_range range = data_range::proc_local,
             const proc_id& source = {"job", 1}) {
    caf::anon_send(uut, event{code, source, range, std::move(infos)});
    consume_messages();
  }

  /// Raises an event that others have had as well.
  void publish(status code, std::vector<info> infos = {}) {
    raise(code, std::move(infos), data_range::session);
  }

  /// Completes the oldest call that is kept.
  void complete(status outcome = status::no_action_taken,
                std::vector<info> results = {}) {
    CAF_REQUIRE(!app.kept.empty());
    complete(app.kept.front(), outcome, std::move(results));
    app.kept.pop_front();
  }

  void complete(const program::call& x, status outcome,
                std::vector<info> results = {}) {
    caf::anon_send(
      uut, handler_done{x.id, x.walk, x.turn, {outcome, std::move(results)}});
    consume_messages();
  }

  /// The server acknowledges a registration.
  void acknowledge(caf::typed_response_promise<ack>& x) {
    wire.self->context(nullptr); // It does not run now.
    x.deliver(ack{});
    consume_messages();
  }

  std::string journal() {
    auto result = std::string{};
    for (const auto& x : app.journal)
      result += (result.empty() ? "" : " ") + x;
    app.journal.clear();
    return result;
  }

  bool is_logged(const std::string& part) const {
    for (const auto& x : lines)
      if (x.find(part) != std::string::npos)
        return true;
    return false;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(handler_chain_tests, fixture)

// -- registration ------------------------------------------------------------

CAF_TEST(C3.14 E33 a handler gets a number and its events) {
  CAF_CHECK_EQUAL(add({code_a}), 0u);
  CAF_CHECK_EQUAL(add({}), 1u);
  raise(code_a, {directive("my.key", value::uint32(7))});
  CAF_CHECK_EQUAL(journal(), "0/-7 1/-7");
  CAF_CHECK(app.calls[0].what.source == (proc_id{"job", 1}));
  CAF_CHECK(number<uint32_t>(app.calls[1].what.infos, "my.key") == 7u);
  raise(code_b);
  CAF_CHECK_EQUAL(journal(), "1/-231");
}

CAF_TEST(E41 the server hears of a code once) {
  add({code_a});
  add({code_a});
  add({code_a, code_b});
  add({});
  add({});
  CAF_REQUIRE_EQUAL(wire.registered.size(), 3u);
  CAF_CHECK(wire.registered[0].codes == std::vector{code_a});
  CAF_CHECK(wire.registered[1].codes == (std::vector{code_a, code_b}));
  CAF_CHECK(wire.registered[2].codes.empty());
}

CAF_TEST(E41 the server is not asked to filter for one handler) {
  add({code_a}, "x",
      {directive(attr::event_affected_proc, value::of_proc(own)),
       directive(attr::event_hdlr_prepend)});
  CAF_REQUIRE_EQUAL(wire.registered.size(), 1u);
  CAF_CHECK(wire.registered[0].directives.empty());
  add({code_a}, "y", {directive("my.level")});
  CAF_REQUIRE_EQUAL(wire.registered.size(), 2u);
  CAF_CHECK_EQUAL(wire.registered[1].directives.size(), 1u);
}

// 4.1, 11 and 64.
CAF_TEST(C3.14 E43 no event reaches a handler before its registration is answered) {
  wire.is_slow = true;
  begin_add({code_a});
  raise(code_a);
  raise(code_b);
  CAF_CHECK_EQUAL(journal(), "");
  begin_add({code_b});
  acknowledge(wire.kept.front());
  CAF_CHECK_EQUAL(journal(), "registered 0/-7");
  acknowledge(wire.kept.back());
  CAF_CHECK_EQUAL(journal(), "registered 1/-231");
}

// 4.1, 11.
CAF_TEST(E43 no event reaches a handler before the program knows its number) {
  const auto id =
    request<handler_registered>(uut, register_handler{{code_a}, {}, 0}).id;
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "");
  make_ready(id);
  CAF_CHECK_EQUAL(journal(), "0/-7");
  make_ready(id); // Once more does no harm.
  make_ready(99);
  CAF_CHECK_EQUAL(journal(), "");
}

CAF_TEST(E33 a registration that the server refuses is undone) {
  wire.answer = status::out_of_resource;
  const auto why =
    refusal<handler_registered>(uut, register_handler{{code_a}, {}, 0});
  CAF_CHECK(status_of(why) == status::out_of_resource);
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "");
}

CAF_TEST(E53 without a server there are the events of the process itself) {
  wire.answer = status::unreach;
  CAF_CHECK_EQUAL(add({code_a}), 0u);
  raise(code_a, {}, data_range::proc_local, own);
  CAF_CHECK_EQUAL(journal(), "0/-7");
}

CAF_TEST(C3.14 a new server learns what the handlers want) {
  add({code_a});
  add({});
  wire.registered.clear();
  caf::anon_send(uut, connect_accepted{own, {"another", 0}, 1});
  consume_messages();
  CAF_REQUIRE_EQUAL(wire.registered.size(), 2u);
  CAF_CHECK(wire.registered[0].codes.empty());
  CAF_CHECK(wire.registered[1].codes == std::vector{code_a});
}

// -- deregistration ----------------------------------------------------------

// 4.1, 12 and 13.
CAF_TEST(C3.14 E58 a deregistered handler gets no event) {
  const auto id = add({code_a});
  const auto other = add({code_a, code_b});
  request<ack>(uut, deregister_handler{id});
  CAF_CHECK(wire.deregistered.empty());
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "1/-7");
  for (const auto unknown : {id, uint64_t{99}})
    CAF_CHECK(status_of(refusal<ack>(uut, deregister_handler{unknown}))
              == status::bad_param);
  request<ack>(uut, deregister_handler{other});
  CAF_CHECK(wire.deregistered == (std::vector{code_a, code_b}));
}

// 4.1, 16.
CAF_TEST(E35 the last default handler may go and another come) {
  const auto id = add({});
  request<ack>(uut, deregister_handler{id});
  CAF_CHECK(wire.deregistered == std::vector{default_events});
  add({});
  CAF_CHECK_EQUAL(wire.registered.size(), 2u);
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "1/-7");
}

// 4.1, 14.
CAF_TEST(E26 a handler that goes while its event runs is skipped) {
  const auto first = add({code_a});
  const auto second = add({code_a});
  app.slow = {first};
  raise(code_a);
  request<ack>(uut, deregister_handler{first});
  request<ack>(uut, deregister_handler{second});
  complete();
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "0/-7");
}

// 4.1, 15.
CAF_TEST(E34 a handler registered during an event does not see it) {
  const auto first = add({code_a});
  app.slow = {first};
  raise(code_a);
  add({code_a});
  complete();
  CAF_CHECK_EQUAL(journal(), "0/-7");
}

// 4.1, 21.
CAF_TEST(E59 a handler for one event gets one of two that wait) {
  const auto slow = add({code_a});
  app.slow = {slow};
  add({code_b}, "once", {directive(attr::event_oneshot)});
  raise(code_a);
  raise(code_b);
  raise(code_b);
  complete();
  CAF_CHECK_EQUAL(journal(), "0/-7 1/-231");
  CAF_CHECK(wire.deregistered == std::vector{code_b});
}

// -- the chain: 4.2, 28 to 34 ------------------------------------------------

CAF_TEST(C3.14 E18 E19 E20 E21 only action complete ends the chain) {
  for (const auto outcome :
       {status::no_action_taken, status::partial_action_taken,
        status::action_deferred, status::action_complete,
        status::no_action_taken})
    app.verdicts[add({code_a})] = {outcome, {}};
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "0/-7 1/-7 2/-7 3/-7");
}

CAF_TEST(G28 case 147 who ends the chain hides no decision before it) {
  auto decided = std::vector<handler_verdict>{};
  options.on_decided = [&](const event&, handler_verdict x) {
    decided.push_back(std::move(x));
  };
  start();
  const auto code = status::group_leader_failed;
  app.verdicts[add({code})] = {
    status::partial_action_taken,
    {directive(attr::group_leader, value::boolean(true))}};
  app.verdicts[add({code})] = {status::action_complete,
                               {directive("x", value::uint32(1))}};
  add({code});
  raise(code);
  CAF_CHECK_EQUAL(app.calls.size(), 2u);
  CAF_REQUIRE_EQUAL(decided.size(), 1u);
  CAF_CHECK(flag(decided[0].results, attr::group_leader));
  CAF_CHECK(find(decided[0].results, "x") != nullptr);
}

CAF_TEST(C3.14 E22 E23 E24 E25 E30 a handler sees what those before it reported) {
  app.verdicts[add({code_a}, "first")] = {status::partial_action_taken,
                                          {directive("x", value::uint32(1))}};
  app.verdicts[add({code_a})] = {status::action_deferred, {}};
  add({code_a}, "third");
  raise(code_a);
  CAF_REQUIRE_EQUAL(app.calls.size(), 3u);
  CAF_CHECK(app.calls[0].results.empty());
  const auto& results = app.calls[2].results;
  CAF_REQUIRE_EQUAL(results.size(), 2u);
  CAF_CHECK_EQUAL(results[0].key, "first");
  const auto one = infos_of(results[0].val);
  CAF_REQUIRE_EQUAL(one.size(), 2u);
  CAF_CHECK_EQUAL(one[0].key, "first");
  CAF_CHECK(
    one[0].val
    == value::of_status(static_cast<int32_t>(status::partial_action_taken)));
  CAF_CHECK_EQUAL(one[1].key, "x");
  const auto two = infos_of(results[1].val);
  CAF_REQUIRE_EQUAL(two.size(), 1u);
  CAF_CHECK_EQUAL(two[0].key, "");
  CAF_CHECK(two[0].val
            == value::of_status(static_cast<int32_t>(status::action_deferred)));
}

CAF_TEST(E25 a handler for one event leaves its name too) {
  add({code_a}, "once", {directive(attr::event_oneshot)});
  add({code_a});
  raise(code_a);
  CAF_REQUIRE_EQUAL(app.calls[1].results.size(), 1u);
  CAF_CHECK_EQUAL(app.calls[1].results[0].key, "once");
}

CAF_TEST(E23 a compatibility switch gives one flat list) {
  options.flat_results = true;
  start();
  app.verdicts[add({code_a}, "first")] = {status::partial_action_taken,
                                          {directive("x", value::uint32(1))}};
  add({code_a});
  add({code_a});
  raise(code_a);
  auto keys = std::string{};
  for (const auto& x : app.calls[2].results)
    keys += x.key + " ";
  CAF_CHECK_EQUAL(keys, "first x UNKNOWN ");
}

CAF_TEST(C3.14 events run one after another) {
  const auto first = add({code_a, code_b});
  add({code_a, code_b});
  app.slow = {first};
  raise(code_a);
  raise(code_b);
  CAF_CHECK_EQUAL(journal(), "0/-7");
  complete();
  CAF_CHECK_EQUAL(journal(), "1/-7 0/-231");
  complete(status::action_complete);
  CAF_CHECK_EQUAL(journal(), "");
}

// 4.2, 32.
CAF_TEST(C3.15 a handler that never completes is named and passed over) {
  const auto stuck = add({code_a}, "stuck");
  add({});
  app.slow = {stuck};
  raise(code_a);
  raise(code_b);
  CAF_CHECK_EQUAL(journal(), "0/-7");
  elapse(2 * defaults::event_handler_tick);
  CAF_CHECK(is_logged("event handler 0 (stuck) has not completed"));
  CAF_CHECK_EQUAL(journal(), "1/-231");
  raise(code_a);
  raise(code_b);
  CAF_CHECK_EQUAL(journal(), "0/-7 1/-231"); // Nobody waits any more.
  elapse(defaults::event_handler_answer_ticks * defaults::event_handler_tick);
  CAF_CHECK(is_logged("event handler 0 (stuck) never completed"));
  CAF_CHECK_EQUAL(journal(), "1/-7 1/-7");
  elapse(defaults::event_handler_tick);
  CAF_CHECK(!sched.has_pending_timeout()); // Nothing wakes an idle process.
}

CAF_TEST(C3.15 a handler that completes late is trusted again) {
  const auto late = add({code_a});
  add({code_b});
  app.slow = {late};
  raise(code_a);
  elapse(2 * defaults::event_handler_tick);
  complete();
  raise(code_a);
  raise(code_b);
  CAF_CHECK_EQUAL(journal(), "0/-7 0/-7");
  complete();
  CAF_CHECK_EQUAL(journal(), "1/-231");
}

CAF_TEST(C3.15 what comes after its time counts for nothing) {
  const auto late = add({code_a});
  add({code_a});
  app.slow = {late};
  raise(code_a);
  elapse(defaults::event_handler_answer_ticks * defaults::event_handler_tick);
  CAF_CHECK_EQUAL(journal(), "0/-7 1/-7");
  complete(status::action_complete);
  CAF_CHECK_EQUAL(journal(), "");
  CAF_CHECK(is_logged("completed an event that had gone on"));
}

// 4.2, 33.
CAF_TEST(C3.15 E31 a handler that completes twice is heard once) {
  const auto slow = add({code_a});
  add({code_a});
  app.slow = {slow};
  raise(code_a);
  const auto first = app.kept.front();
  complete();
  complete(first, status::action_complete);
  CAF_CHECK_EQUAL(journal(), "0/-7 1/-7");
  complete(first, status::no_action_taken);
  CAF_CHECK_EQUAL(journal(), "");
}

CAF_TEST(E17 E31 a verdict that names another turn counts for nothing) {
  const auto slow = add({code_a});
  add({code_a});
  app.slow = {slow};
  raise(code_a);
  auto wrong = app.kept.front();
  ++wrong.turn;
  complete(wrong, status::no_action_taken);
  wrong = app.kept.front();
  ++wrong.walk;
  complete(wrong, status::no_action_taken);
  CAF_CHECK_EQUAL(journal(), "0/-7");
  complete();
  CAF_CHECK_EQUAL(journal(), "1/-7");
}

// -- what waits --------------------------------------------------------------

CAF_TEST(C3.14 E12 events that wait hold back the server and none is lost) {
  options.max_events = 4;
  options.hard_factor = 2;
  start();
  const auto slow = add({code_a});
  app.slow = {slow};
  for (int i = 0; i < 20; ++i)
    raise(code_a, {directive("number", value::integer(i))});
  CAF_CHECK(app.intakes
            == (std::vector{event_intake::answers, event_intake::nothing}));
  app.intakes.clear();
  for (int i = 0; i < 20; ++i)
    complete();
  CAF_CHECK(app.intakes
            == (std::vector{event_intake::answers, event_intake::all}));
  CAF_REQUIRE_EQUAL(app.calls.size(), 20u);
  for (int i = 0; i < 20; ++i)
    CAF_CHECK_EQUAL(
      number<int32_t>(app.calls[static_cast<size_t>(i)].what.infos, "number"),
      std::optional{i});
}

CAF_TEST(E12 large events hold back the server sooner) {
  options.max_bytes = 1000;
  start();
  const auto slow = add({code_a});
  app.slow = {slow};
  raise(code_a, {directive("large", value::string(std::string(2000, 'x')))});
  CAF_CHECK(app.intakes == std::vector{event_intake::answers});
  complete();
  CAF_CHECK(app.intakes.back() == event_intake::all);
}

CAF_TEST(E17 many handlers share the thread with others) {
  options.calls_per_turn = 3;
  start();
  auto expected = std::string{};
  for (uint64_t i = 0; i < 10; ++i) {
    const auto id = add({code_a});
    app.verdicts[id] = {status::partial_action_taken, {}};
    expected += (i > 0 ? " " : "") + std::to_string(id) + "/-7";
  }
  caf::anon_send(uut, event{code_a, {"job", 1}, data_range::proc_local, {}});
  caf::anon_send(uut, event{code_a, {"job", 1}, data_range::proc_local, {}});
  consume_messages();
  CAF_CHECK_EQUAL(journal(), expected + " " + expected);
  CAF_CHECK_EQUAL(app.calls.back().results.size(), 9u);
}

// -- the end of an event -----------------------------------------------------

// 4.2, 31.
CAF_TEST(E52 what an event was given is kept until its chain ends) {
  const auto slow = add({code_a});
  add({code_a});
  app.slow = {slow};
  raise(code_a);
  CAF_CHECK(app.ended.empty());
  complete();
  CAF_CHECK(app.ended == std::vector{app.calls[0].walk});
  CAF_CHECK_EQUAL(app.calls[0].walk, app.calls[1].walk);
  raise(code_b); // Nobody wants it.
  CAF_CHECK_EQUAL(app.ended.size(), 2u);
  CAF_CHECK_EQUAL(wire.registered.size(), 1u); // The server hears nothing.
  CAF_CHECK(wire.deregistered.empty());
}

// -- handlers that come later: 4.1 and 4.3 -----------------------------------

// 4.1, 20; 4.3, 51 and 52.
CAF_TEST(E8 E49 a handler gets first what the process has had before) {
  for (int i = 0; i < 3; ++i)
    publish(code_a, {directive("number", value::integer(i))});
  publish(code_b);
  add({code_a});
  CAF_CHECK_EQUAL(journal(), "0/-7 0/-7 0/-7");
  for (int i = 0; i < 3; ++i)
    CAF_CHECK_EQUAL(
      number<int32_t>(app.calls[static_cast<size_t>(i)].what.infos, "number"),
      std::optional{i});
}

// 4.3, 53; reading A12.
CAF_TEST(E49 each later handler gets every kept event once) {
  publish(code_a);
  publish(code_a);
  add({code_a});
  add({code_a, code_b});
  CAF_CHECK_EQUAL(journal(), "0/-7 0/-7 1/-7 1/-7");
  publish(code_a);
  add({});
  CAF_CHECK_EQUAL(journal(), "0/-7 1/-7 2/-7 2/-7 2/-7");
}

// 4.3, 54.
CAF_TEST(E49 who registers again is not given again what it has had) {
  const auto id = add({code_a}, "", {}, 77);
  publish(code_a);
  request<ack>(uut, deregister_handler{id});
  publish(code_a);
  add({code_a}, "", {directive(attr::event_hdlr_prepend)}, 77);
  CAF_CHECK_EQUAL(journal(), "0/-7 1/-7");
  add({code_a}, "", {}, 78);
  CAF_CHECK_EQUAL(journal(), "2/-7 2/-7");
}

// 4.3, 55.
CAF_TEST(E59 an event that is not to be cached is not kept) {
  publish(code_a, {directive(attr::event_do_not_cache)});
  raise(code_a); // Nor what stays inside the process.
  add({code_a});
  CAF_CHECK_EQUAL(journal(), "");
}

// 4.3, 65.
CAF_TEST(E43 what comes meanwhile comes after what was kept) {
  wire.is_slow = true;
  publish(code_a, {directive("number", value::integer(1))});
  begin_add({code_a});
  publish(code_a, {directive("number", value::integer(2))});
  acknowledge(wire.kept.front());
  CAF_CHECK_EQUAL(journal(), "registered 0/-7 0/-7");
  CAF_CHECK(number<int32_t>(app.calls[0].what.infos, "number") == 1);
  CAF_CHECK(number<int32_t>(app.calls[1].what.infos, "number") == 2);
}

// 4.1, 15.
CAF_TEST(E34 a handler registered during an event gets the kept ones without it) {
  const auto first = add({code_a});
  publish(code_a, {directive("number", value::integer(1))});
  app.slow = {first};
  publish(code_a, {directive("number", value::integer(2))});
  journal();
  add({code_a});
  CAF_CHECK_EQUAL(journal(), ""); // Events run one after another.
  complete();
  CAF_CHECK_EQUAL(journal(), "1/-7");
  CAF_CHECK(number<int32_t>(app.calls.back().what.infos, "number") == 1);
}

// 4.1, 21.
CAF_TEST(E59 a handler for one event gets one of those that were kept) {
  publish(code_a);
  publish(code_a);
  add({code_a}, "once", {directive(attr::event_oneshot)});
  CAF_CHECK_EQUAL(journal(), "0/-7");
}

CAF_TEST(E49 SPW-3 what a handler of the library completes is none of the program) {
  for (const auto is_own : {false, true}) {
    start();
    app.calls.clear();
    auto how = std::vector{directive(attr::event_oneshot)};
    if (is_own)
      how.push_back(directive(own_handler_key));
    app.verdicts[add({code_a}, "once", how)].outcome = status::action_complete;
    publish(code_a);
    add({code_a});
    CAF_CHECK_EQUAL(app.calls.size(), is_own ? 1u : 2u);
  }
}

CAF_TEST(E49 what is kept has a bound) {
  options.history.capacity = 2;
  start();
  for (int i = 0; i < 5; ++i)
    publish(code_a, {directive("number", value::integer(i))});
  add({code_a});
  CAF_REQUIRE_EQUAL(app.calls.size(), 2u);
  CAF_CHECK(number<int32_t>(app.calls[0].what.infos, "number") == 3);
}

// -- raising: 4.2, 37 and 39 -------------------------------------------------

CAF_TEST(C3.14 E57 a process has its own event once as the range says) {
  const auto has = [](data_range range, std::vector<info> infos = {}) {
    return is_for_notifier({code_a, range, std::move(infos)}, own);
  };
  const auto to = [](proc_id x) {
    return std::vector{
      directive(attr::event_custom_range, value::procs({std::move(x)}))};
  };
  CAF_CHECK(has(data_range::proc_local));
  CAF_CHECK(has(data_range::local));
  CAF_CHECK(has(data_range::nspace));
  CAF_CHECK(has(data_range::session));
  CAF_CHECK(has(data_range::global));
  CAF_CHECK(!has(data_range::rm));
  CAF_CHECK(!has(data_range::invalid));
  CAF_CHECK(has(data_range::custom, to(own)));
  CAF_CHECK(has(data_range::custom, to({"job", rank_wildcard})));
  CAF_CHECK(!has(data_range::custom, to({"job", 3})));
  CAF_CHECK(!has(data_range::custom));
  CAF_CHECK(!has(data_range::session, to({"job", 3})));
}

// -- events of the library's own ---------------------------------------------

// 4.2, 47; reading A14.
CAF_TEST(E53 E54 E55 the loss of the server goes by its new name and by its old) {
  add({status::lost_connection});
  add({status::lost_connection_to_server});
  add({status::lost_connection, status::lost_connection_to_server});
  add({});
  add({status::lost_connection_to_client});
  raise(status::lost_connection_to_server);
  CAF_CHECK_EQUAL(journal(), "0/-61 1/-101 2/-61 3/-61");
  CAF_CHECK_EQUAL(app.calls.size(), 4u); // Each once.
}

// 4.2, 36.
CAF_TEST(E27 E28 E29 a handler is told code and source and infos) {
  add({code_a});
  const auto infos = std::vector{directive("x", value::uint32(5))};
  raise(code_a, infos, data_range::session, {"", rank_undef});
  CAF_REQUIRE_EQUAL(app.calls.size(), 1u);
  CAF_CHECK(app.calls[0].code == code_a);
  CAF_CHECK(app.calls[0].what.source == (proc_id{"", rank_undef}));
  CAF_CHECK(number<uint32_t>(app.calls[0].what.infos, "x") == 5u);
}

CAF_TEST(E32 the chain has no handlers of its own) {
  CAF_CHECK_EQUAL(add({}), 0u);
  CAF_CHECK_EQUAL(wire.registered.size(), 1u);
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "0/-7");
}

// 4.2, 28; E51.
CAF_TEST(E36 E50 E51 codes before groups before defaults and each status by its name) {
  app.verdicts[add({}, "default")] = {status::no_action_taken, {}};
  app.verdicts[add({code_a, code_b}, "group")] = {status::partial_action_taken,
                                                  {}};
  app.verdicts[add({code_a}, "code")] = {status::action_deferred, {}};
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "2/-7 1/-7 0/-7");
  const auto& results = app.calls.back().results;
  CAF_REQUIRE_EQUAL(results.size(), 2u);
  CAF_CHECK_EQUAL(results[0].key, "code");
  CAF_CHECK(infos_of(results[0].val)[0].val
            == value::of_status(static_cast<int32_t>(status::action_deferred)));
  CAF_CHECK_EQUAL(results[1].key, "group");
}

CAF_TEST_FIXTURE_SCOPE_END()
