// What processes want of the environment, all the way to the sensors and back;
// in a daemon with a host of its own that may have such events, too.

#include "actors/events/environment_host.hpp"

#include "actors/events/sensor_desk.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using list = std::vector<status>;

constexpr auto hot = status::temperature_high;
constexpr auto full = status::file_system_full;
constexpr auto job_code = status::proc_aborted;

/// A sensor that raises what the test tells it to.
using puppet_actor = sensor_actor::extend<caf::reacts_to<environment_event>>;

struct strings {
  size_t starts = 0;
  size_t stops = 0;
  list running;
  environment_user_actor user;
};

puppet_actor::behavior_type puppet(puppet_actor::pointer self,
                                   std::shared_ptr<strings> x) {
  return {
    [x](start_sensor& what, environment_user_actor& user) {
      ++x->starts;
      x->running = std::move(what.codes);
      x->user = std::move(user);
    },
    [x](stop_sensor) {
      ++x->stops;
      x->running.clear();
    },
    [self, x](const environment_event& what) { self->send(x->user, what); },
  };
}

struct fixture : deterministic {
  std::shared_ptr<host_script> play = std::make_shared<host_script>();
  host_actor inner = spawn_host(sys, play);
  sensor_desk_actor desk = spawn_sensor_desk(sys, {"n1", {}, {}});
  std::shared_ptr<strings> pulled = std::make_shared<strings>();
  puppet_actor sensor = sys.spawn(puppet, pulled);
  node uut{*this, spawn_environment_host(sys, inner, desk)};
  std::vector<peer_ptr> ranks;

  fixture() {
    caf::anon_send(caf::actor_cast<caf::actor>(uut.host), uut.server,
                   uut.events);
    request<ack>(desk, sensor_offer{"puppet", {hot, full}},
                 sensor_actor{sensor});
    uut.add_job("job", 3);
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank)
      ranks.push_back(uut.connect("job", rank));
    consume_messages();
  }

  ~fixture() override {
    pulled->user = environment_user_actor{};
    end(desk);
    end(inner);
  }

  void enroll(const peer_ptr& who, list codes,
              std::vector<info> directives = {}) {
    const auto x = uut.ask<ack>(
      who, register_events_request{std::move(codes), std::move(directives)});
    consume_messages();
    CAF_CHECK_EQUAL(x->code, status::success);
  }

  void withdraw(const peer_ptr& who, list codes) {
    caf::anon_send(who->session, deregister_events_request{std::move(codes)});
    consume_messages();
  }

  void raise(status code) {
    caf::anon_send(sensor, environment_event{code, {}});
    consume_messages();
  }

  static list codes(const peer_ptr& who) {
    auto result = list{};
    for (const auto& x : who->wire->events)
      result.push_back(x.code);
    return result;
  }

  /// How often the other host was asked.
  size_t asked(const std::string& what) const {
    auto result = size_t{0};
    for (const auto& [who, name] : play->requests)
      result += name == what ? 1 : 0;
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(environment_host_tests, fixture)

CAF_TEST(E42 the host is asked once for a code and no longer with the last) {
  enroll(ranks[0], {hot});
  enroll(ranks[1], {hot, hot});
  enroll(ranks[2], {hot});
  CAF_CHECK_EQUAL(asked("register events"), 1u);
  CAF_CHECK_EQUAL(pulled->starts, 1u);
  CAF_CHECK(pulled->running == list{hot});
  // Another code is another question.
  enroll(ranks[2], {full});
  CAF_CHECK_EQUAL(asked("register events"), 2u);
  CAF_CHECK(pulled->running == (list{hot, full}));
  withdraw(ranks[0], {hot});
  uut.lose(ranks[2]);
  consume_messages();
  CAF_CHECK(pulled->running == list{hot});
  CAF_CHECK_EQUAL(asked("deregister events"), 1u);
  withdraw(ranks[1], {hot});
  CAF_CHECK_EQUAL(asked("deregister events"), 2u);
  CAF_CHECK_EQUAL(pulled->stops, 1u);
  // And from the beginning.
  enroll(ranks[0], {hot});
  CAF_CHECK_EQUAL(asked("register events"), 3u);
  CAF_CHECK_EQUAL(pulled->starts, 4u);
}

CAF_TEST(E4 E42 codes of jobs and default handlers ask the host for nothing) {
  enroll(ranks[0], {job_code});
  enroll(ranks[1], {});
  CAF_CHECK_EQUAL(asked("register events"), 0u);
  CAF_CHECK_EQUAL(pulled->starts, 0u);
}

CAF_TEST(E4 a host that has no such events is no refusal) {
  play->others = status::not_supported;
  enroll(ranks[0], {hot});
  raise(hot);
  CAF_CHECK(codes(ranks[0]) == list{hot});
}

CAF_TEST(E48 an event reaches those who registered at once and nobody else) {
  enroll(ranks[0], {hot});
  enroll(ranks[1], {full});
  // A default handler would take it for a failure.
  enroll(ranks[2], {});
  raise(hot);
  CAF_CHECK(codes(ranks[0]) == list{hot});
  CAF_CHECK(codes(ranks[1]).empty());
  CAF_CHECK(codes(ranks[2]).empty());
  const auto& x = ranks[0]->wire->events[0];
  CAF_CHECK(x.source == (proc_id{{}, rank_undef}));
  CAF_CHECK(x.range == data_range::session);
  CAF_CHECK(text(x.infos, attr::hostname) == "n1");
}

CAF_TEST(E6 a default handler gets it only if it asks for the environment) {
  enroll(ranks[0], {hot});
  enroll(ranks[1], {});
  enroll(ranks[2], {}, {with(attr::event_enviro_level, value::boolean(true))});
  CAF_CHECK(pulled->running.size() == 2);
  raise(hot);
  raise(full);
  CAF_CHECK(codes(ranks[0]) == list{hot});
  CAF_CHECK(codes(ranks[1]).empty());
  CAF_CHECK(codes(ranks[2]) == (list{hot, full}));
  // Where none of them has asked, its library keeps it from all of them.
  CAF_CHECK(flag(ranks[0]->wire->events[0].infos, attr::event_non_default));
  CAF_CHECK(!flag(ranks[2]->wire->events[0].infos, attr::event_non_default));
  withdraw(ranks[2], {default_events});
  CAF_CHECK(pulled->running == list{hot});
  raise(hot);
  CAF_CHECK(codes(ranks[2]) == (list{hot, full}));
}

CAF_TEST(E5 who asks for job events alone gets none of the environment) {
  enroll(ranks[0], {hot}, {with(attr::event_job_level, value::boolean(true))});
  CAF_CHECK_EQUAL(pulled->starts, 0u);
  enroll(ranks[1], {hot});
  raise(hot);
  CAF_CHECK(codes(ranks[0]).empty());
  CAF_CHECK(codes(ranks[1]) == list{hot});
}

CAF_TEST(E8 E48 who registers later gets it from the ring once and in order) {
  enroll(ranks[0], {hot, full});
  raise(hot);
  raise(full);
  raise(hot);
  enroll(ranks[1], {hot, full});
  CAF_CHECK(codes(ranks[1]) == (list{hot, full, hot}));
  raise(full);
  CAF_CHECK(codes(ranks[1]) == (list{hot, full, hot, full}));
  CAF_CHECK(codes(ranks[0]) == (list{hot, full, hot, full}));
}

CAF_TEST(E7 what happens before anybody wants it may be missed) {
  raise(hot);
  enroll(ranks[0], {hot});
  CAF_CHECK(codes(ranks[0]).empty());
  raise(hot);
  CAF_CHECK(codes(ranks[0]) == list{hot});
}

CAF_TEST(E45 what the other host tells of comes through as before) {
  enroll(ranks[0], {status::event_node_down});
  caf::anon_send(
    uut.events,
    deliver_event{
      {status::event_node_down, {{}, rank_undef}, data_range::session, {}},
      {}});
  consume_messages();
  CAF_CHECK(codes(ranks[0]) == list{status::event_node_down});
}

CAF_TEST_FIXTURE_SCOPE_END()
