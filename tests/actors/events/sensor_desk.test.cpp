// Who wants what decides which sensors run, and what is told to whom.

#include "actors/events/sensor_desk.hpp"

#include "actors/events/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/deterministic.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using list = std::vector<status>;

constexpr auto code_a = status::temperature_high;
constexpr auto code_b = status::link_down;
constexpr auto code_c = status::site_event;

/// What a sensor, or a user, has been told.
struct ledger {
  size_t starts = 0;
  size_t stops = 0;
  list running;
  environment_user_actor user;
  std::vector<environment_event> heard;

  list codes() const {
    auto result = list{};
    for (const auto& x : heard)
      result.push_back(x.code);
    return result;
  }
};

using ledger_ptr = std::shared_ptr<ledger>;

/// A sensor that raises what the test tells it to.
using puppet_actor = sensor_actor::extend<caf::reacts_to<environment_event>>;

puppet_actor::behavior_type puppet(puppet_actor::pointer self, ledger_ptr x) {
  return {
    [x](start_sensor& what, environment_user_actor& user) {
      ++x->starts;
      x->running = std::move(what.codes);
      x->user = std::move(user);
    },
    [x](stop_sensor) {
      ++x->stops;
      x->running.clear();
      x->user = environment_user_actor{};
    },
    [self, x](const environment_event& what) {
      if (x->user)
        self->send(x->user, what);
    },
  };
}

environment_user_actor::behavior_type user(environment_user_actor::pointer,
                                           ledger_ptr x) {
  return {
    [x](environment_event& what) { x->heard.push_back(std::move(what)); },
  };
}

struct fixture : fixtures::deterministic {
  std::vector<std::string> log;
  ledger_ptr hot = std::make_shared<ledger>();
  ledger_ptr net = std::make_shared<ledger>();
  ledger_ptr here = std::make_shared<ledger>();
  ledger_ptr there = std::make_shared<ledger>();
  puppet_actor hot_sensor = sys.spawn(puppet, hot);
  puppet_actor net_sensor = sys.spawn(puppet, net);
  environment_user_actor here_user = sys.spawn(user, here);
  environment_user_actor there_user = sys.spawn(user, there);
  sensor_desk_actor uut;

  fixture() {
    auto options = sensor_desk_options{};
    options.hostname = "n1";
    options.wall_clock = [] { return 77; };
    options.log = [this](severity, const std::string& line) {
      log.push_back(line);
    };
    uut = spawn_sensor_desk(sys, options);
    add("hot", {code_a, status::temperature_normal}, hot_sensor);
    add("net", {code_b}, net_sensor);
  }

  void add(const std::string& name, const list& codes,
           const sensor_actor& handle) {
    request<ack>(uut, sensor_offer{name, codes}, handle);
  }

  void want(const environment_user_actor& who, const list& codes,
            bool all = false) {
    caf::anon_send(uut, environment_interest{codes, all}, who);
    consume_messages();
  }

  void raise(const puppet_actor& who, status code,
             std::vector<info> infos = {}) {
    caf::anon_send(who, environment_event{code, std::move(infos)});
    consume_messages();
  }

  ~fixture() override {
    end(uut);
    end(here_user);
    end(there_user);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(sensor_desk_tests, fixture)

CAF_TEST(E4 E42 a sensor runs while somebody wants one of its codes) {
  CAF_CHECK_EQUAL(hot->starts, 0u);
  want(here_user, {code_a});
  CAF_CHECK(hot->running == list{code_a});
  CAF_CHECK_EQUAL(net->starts, 0u);
  // The same again, and from somebody else: it runs already.
  want(here_user, {code_a});
  want(there_user, {code_a});
  CAF_CHECK_EQUAL(hot->starts, 1u);
  want(here_user, {});
  CAF_CHECK_EQUAL(hot->stops, 0u);
  want(there_user, {});
  CAF_CHECK_EQUAL(hot->stops, 1u);
  CAF_CHECK_EQUAL(net->starts + net->stops, 0u);
}

CAF_TEST(E4 a sensor hears which of its codes are wanted) {
  want(here_user, {code_a, code_b, code_c});
  want(there_user, {status::temperature_normal});
  CAF_CHECK(hot->running == (list{code_a, status::temperature_normal}));
  CAF_CHECK(net->running == list{code_b});
  want(here_user, {code_b});
  CAF_CHECK(hot->running == list{status::temperature_normal});
}

CAF_TEST(E4 who wants all codes has all sensors running) {
  want(here_user, {}, true);
  CAF_CHECK_EQUAL(hot->running.size(), 2u);
  CAF_CHECK_EQUAL(net->running.size(), 1u);
  raise(net_sensor, code_b);
  CAF_CHECK_EQUAL(here->heard.size(), 1u);
}

CAF_TEST(E48 an event goes once to each who wants it and to nobody else) {
  want(here_user, {code_a});
  want(there_user, {code_a, code_b});
  raise(hot_sensor, code_a);
  raise(net_sensor, code_b);
  CAF_CHECK(here->codes() == list{code_a});
  CAF_CHECK(there->codes() == (list{code_a, code_b}));
}

CAF_TEST(E48 an event says where and when) {
  want(here_user, {code_a});
  raise(hot_sensor, code_a);
  raise(hot_sensor, code_a,
        {{std::string{attr::hostname}, 0, value::string("rack 4")}});
  CAF_REQUIRE_EQUAL(here->heard.size(), 2u);
  const auto& x = here->heard[0].infos;
  CAF_CHECK(text(x, attr::hostname) == "n1");
  CAF_CHECK(number<int64_t>(x, attr::event_timestamp) == 77);
  CAF_CHECK(text(here->heard[1].infos, attr::hostname) == "rack 4");
}

CAF_TEST(E4 a sensor that is added later starts at once if it is wanted) {
  want(here_user, {code_c});
  const auto own = std::make_shared<ledger>();
  const auto sensor = sys.spawn(puppet, own);
  add("own", {code_c}, sensor);
  CAF_CHECK(own->running == list{code_c});
  raise(sensor, code_c);
  CAF_CHECK(here->codes() == list{code_c});
}

CAF_TEST(E4 codes of jobs are refused as those of a sensor) {
  const auto own = std::make_shared<ledger>();
  const auto sensor = sys.spawn(puppet, own);
  const auto err = refusal<ack>(
    uut, sensor_offer{"own", {status::proc_aborted}}, sensor_actor{sensor});
  CAF_CHECK(status_of(err) == status::bad_param);
  CAF_CHECK(reason_of(err).find("own") != std::string::npos);
  CAF_CHECK(reason_of(err).find("-32300") != std::string::npos);
  end(sensor);
}

CAF_TEST(E4 what a sensor has not offered is dropped and named once) {
  want(here_user, {code_a, code_b});
  raise(hot_sensor, code_b);
  raise(hot_sensor, code_b);
  CAF_CHECK(here->heard.empty());
  CAF_REQUIRE_EQUAL(log.size(), 1u);
  CAF_CHECK(log[0].find("hot") != std::string::npos);
}

CAF_TEST(E4 a stranger is not heard) {
  want(here_user, {code_a});
  caf::anon_send(uut, environment_event{code_a, {}});
  consume_messages();
  CAF_CHECK(here->heard.empty());
}

CAF_TEST(E4 a sensor that ends is named and missed by nobody else) {
  want(here_user, {code_a, code_b});
  end(hot_sensor);
  CAF_REQUIRE_EQUAL(log.size(), 1u);
  CAF_CHECK(log[0].find("hot") != std::string::npos);
  raise(net_sensor, code_b);
  CAF_CHECK(here->codes() == list{code_b});
}

CAF_TEST(P-E1 a storm of one code costs no other and is counted) {
  want(here_user, {code_a, code_b, status::temperature_normal});
  constexpr auto storm = 10 * defaults::sensor_events;
  for (size_t i = 0; i < storm; ++i)
    raise(hot_sensor, code_a);
  raise(hot_sensor, status::temperature_normal);
  raise(net_sensor, code_b);
  CAF_CHECK_EQUAL(here->heard.size(), defaults::sensor_events + 2);
  elapse(2 * defaults::sensor_event_window);
  CAF_REQUIRE_EQUAL(here->heard.size(), defaults::sensor_events + 3);
  CAF_CHECK(number<uint64_t>(here->heard.back().infos, event_skipped_key)
            == storm - defaults::sensor_events - 1);
  // Then it goes on as before.
  raise(hot_sensor, code_a);
  CAF_CHECK_EQUAL(here->heard.size(), defaults::sensor_events + 4);
}

CAF_TEST_FIXTURE_SCOPE_END()
