// One event at a time through the handlers of a process.

#include "actors/events/handler_chain.hpp"

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/deterministic.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <map>
#include <memory>
#include <set>

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
  struct kept_call {
    handler_call call;
    caf::typed_response_promise<handler_verdict> reply;
  };

  std::vector<handler_call> calls;
  std::vector<std::string> journal;
  std::map<uint64_t, handler_verdict> verdicts;
  std::set<uint64_t> slow;
  std::deque<kept_call> kept;
  event_handler_actor::pointer self = nullptr;
};

using handler_pointer = event_handler_actor::pointer;

event_handler_actor::behavior_type run_handlers(handler_pointer self,
                                                program* state) {
  return {
    [=](handler_call& x) -> caf::result<handler_verdict> {
      const auto id = x.id;
      state->calls.push_back(x);
      state->journal.push_back(std::to_string(id) + "/"
                               + std::to_string(static_cast<int>(x.what.code)));
      if (state->slow.count(id) > 0) {
        auto promise = self->make_response_promise<handler_verdict>();
        state->kept.push_back({std::move(x), promise});
        state->self = self;
        return promise;
      }
      return state->verdicts[id];
    },
  };
}

/// What the session is asked, and what it answers.
struct link_play {
  std::vector<register_events_request> registered;
  std::vector<status> deregistered;
  std::vector<notify_request> notified;
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
    [=](notify_request& x) -> caf::result<ack> {
      state->notified.push_back(std::move(x));
      if (state->answer != status::success)
        return make_error(state->answer);
      return ack{};
    },
  };
}

struct fixture : deterministic {
  program app;
  link_play wire;
  std::vector<std::string> lines;
  handler_chain_options options = handler_chain_options::with_defaults();
  event_session_actor link;
  event_handler_actor handlers;
  handler_chain_actor uut;

  fixture() {
    options.log = [this](severity, const std::string& x) {
      lines.push_back(x);
    };
    link = sys.spawn(session, &wire);
    handlers = sys.spawn(run_handlers, &app);
    start();
  }

  ~fixture() override {
    app.kept.clear();
    wire.kept.clear();
  }

  void start() {
    uut = spawn_handler_chain(sys, link, options);
    caf::anon_send(uut, connect_accepted{own, server, 0});
    consume_messages();
  }

  uint64_t add(std::vector<status> codes, std::string name = {},
               std::vector<info> directives = {}) {
    if (!name.empty())
      directives.push_back(
        directive(attr::event_hdlr_name, value::string(std::move(name))));
    return request<handler_registered>(
             uut, register_handler{std::move(codes), std::move(directives)},
             handlers)
      .id;
  }

  /// Registers without waiting for the answer.
  void begin_add(std::vector<status> codes) {
    caf::anon_send(uut, register_handler{std::move(codes), {}}, handlers);
    consume_messages();
  }

  void raise(status code, std::vector<info> infos = {}) {
    caf::anon_send(
      uut, event{code, {"job", 1}, data_range::session, std::move(infos)});
    consume_messages();
  }

  /// Completes the oldest call that is kept.
  void complete(status outcome = status::no_action_taken,
                std::vector<info> results = {}) {
    CAF_REQUIRE(!app.kept.empty());
    auto x = std::move(app.kept.front());
    app.kept.pop_front();
    app.self->context(nullptr); // It does not run now.
    x.reply.deliver(handler_verdict{outcome, std::move(results)});
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

// 4.1, 11.
CAF_TEST(C3.14 E43 no event reaches a handler before its registration is answered) {
  wire.is_slow = true;
  begin_add({code_a});
  raise(code_a);
  raise(code_b);
  CAF_CHECK_EQUAL(journal(), "");
  begin_add({code_b});
  acknowledge(wire.kept.front());
  CAF_CHECK_EQUAL(journal(), "0/-7");
  acknowledge(wire.kept.back());
  CAF_CHECK_EQUAL(journal(), "1/-231");
}

CAF_TEST(C3.14 E43 the answer comes before the events) {
  wire.is_slow = true;
  auto seen = std::vector<std::string>{};
  // Whoever registers runs the handler, as the C library does.
  struct play {
    std::vector<std::string>* seen;
    handler_chain_actor chain;
  };
  auto x = play{&seen, uut};
  const auto both = sys.spawn([&x](handler_pointer self) {
    self
      ->request(x.chain, caf::infinite, register_handler{{code_a}, {}},
                event_handler_actor{self})
      .then([&x](handler_registered) { x.seen->push_back("registered"); });
    return event_handler_actor::behavior_type{
      [&x](handler_call&) -> caf::result<handler_verdict> {
        x.seen->push_back("event");
        return handler_verdict{};
      }};
  });
  consume_messages();
  raise(code_a);
  raise(code_a);
  acknowledge(wire.kept.front());
  CAF_CHECK_EQUAL(caf::deep_to_string(seen),
                  R"(["registered", "event", "event"])");
}

CAF_TEST(E33 a registration that the server refuses is undone) {
  wire.answer = status::out_of_resource;
  const auto why =
    refusal<handler_registered>(uut, register_handler{{code_a}, {}}, handlers);
  CAF_CHECK(status_of(why) == status::out_of_resource);
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "");
}

CAF_TEST(E53 without a server there are the events of the process itself) {
  wire.answer = status::unreach;
  CAF_CHECK_EQUAL(add({code_a}), 0u);
  request<ack>(uut, notify_request{code_a, data_range::proc_local, {}});
  CAF_CHECK_EQUAL(journal(), "0/-7");
  const auto why =
    refusal<ack>(uut, notify_request{code_a, data_range::session, {}});
  CAF_CHECK(status_of(why) == status::unreach);
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

CAF_TEST(C3.15 a handler that is gone is passed over) {
  const auto gone = sys.spawn(run_handlers, &app);
  request<handler_registered>(uut, register_handler{{code_a}, {}}, gone);
  add({code_a});
  end(gone);
  raise(code_a);
  CAF_CHECK_EQUAL(journal(), "1/-7");
  CAF_CHECK(is_logged("event handler 0 failed"));
}

CAF_TEST(C3.14 events that wait have a bound) {
  options.max_events = 3;
  start();
  const auto slow = add({code_a});
  app.slow = {slow};
  for (int i = 0; i < 5; ++i)
    raise(code_a);
  CAF_CHECK(is_logged("3 events wait"));
  for (int i = 0; i < 3; ++i)
    complete();
  CAF_CHECK(app.kept.empty());
  CAF_CHECK_EQUAL(journal(), "0/-7 0/-7 0/-7");
}

// -- raising: 4.2, 37 and 39 -------------------------------------------------

CAF_TEST(C3.14 E57 the process that raises an event is told once as its range says) {
  add({code_a});
  const auto raised = [&](data_range range, std::vector<info> infos = {}) {
    request<ack>(uut, notify_request{code_a, range, std::move(infos)});
    return journal();
  };
  const auto to = [](proc_id x) {
    return std::vector{
      directive(attr::event_custom_range, value::procs({std::move(x)}))};
  };
  CAF_CHECK_EQUAL(raised(data_range::proc_local), "0/-7");
  CAF_CHECK(wire.notified.empty());
  CAF_CHECK_EQUAL(raised(data_range::local), "0/-7");
  CAF_CHECK_EQUAL(raised(data_range::nspace), "0/-7");
  CAF_CHECK_EQUAL(raised(data_range::session), "0/-7");
  CAF_CHECK_EQUAL(raised(data_range::global), "0/-7");
  CAF_CHECK_EQUAL(raised(data_range::rm), "");
  CAF_CHECK_EQUAL(raised(data_range::custom, to(own)), "0/-7");
  CAF_CHECK_EQUAL(raised(data_range::custom, to({"job", rank_wildcard})),
                  "0/-7");
  CAF_CHECK_EQUAL(raised(data_range::custom, to({"job", 3})), "");
  CAF_CHECK_EQUAL(wire.notified.size(), 8u);
  CAF_CHECK(app.calls[0].what.source == own);
}

CAF_TEST(E57 the server says whether an event could be passed on) {
  wire.answer = status::not_supported;
  CAF_CHECK(
    status_of(refusal<ack>(uut, notify_request{code_a, data_range::global, {}}))
    == status::not_supported);
}

CAF_TEST_FIXTURE_SCOPE_END()
