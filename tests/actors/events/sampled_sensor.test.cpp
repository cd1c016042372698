// A sensor looks while it is wanted, in its rhythm, once at a time.

#include "actors/events/sampled_sensor.hpp"

#include "tests/fixtures/deterministic.hpp"

#include <caf/send.hpp>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// What the test makes the reader say, and when.
struct bench {
  double value = 20;
  std::string trouble;
  size_t looks = 0;

  /// Of those, for all that there is.
  size_t all = 0;

  /// Whether it answers; else its answers wait here.
  bool hangs = false;
  std::vector<caf::typed_response_promise<sensor_readings>> owed;
  sensor_reader_actor::pointer reader = nullptr;

  sensor_readings say() const {
    auto x = sensor_reading{};
    x.device = "hot";
    x.value = value;
    x.limit = 80;
    return {{x}, trouble};
  }

  std::vector<environment_event> heard;
  std::vector<std::string> log;
};

using bench_ptr = std::shared_ptr<bench>;

sensor_reader_actor::behavior_type reader(sensor_reader_actor::pointer self,
                                          bench_ptr x) {
  x->reader = self;
  return {
    [self, x](read_sensors what) -> caf::result<sensor_readings> {
      ++x->looks;
      x->all += what.all ? 1 : 0;
      if (!x->hangs)
        return x->say();
      auto promise = self->make_response_promise<sensor_readings>();
      x->owed.push_back(promise);
      return promise;
    },
  };
}

environment_user_actor::behavior_type user(environment_user_actor::pointer,
                                           bench_ptr x) {
  return {
    [x](environment_event& what) { x->heard.push_back(std::move(what)); },
  };
}

struct fixture : fixtures::deterministic {
  bench_ptr world = std::make_shared<bench>();
  environment_user_actor listener = sys.spawn(user, world);
  sensor_reader_actor source = sys.spawn(reader, world);
  sampled_sensor_actor uut;

  void make(caf::timespan interval) {
    auto options = sampled_sensor_options{};
    options.name = "temperatures";
    options.quantities = {sensor_quantity::temperature};
    options.reader = source;
    options.interval = interval;
    options.log = [x = world](severity, const std::string& line) {
      x->log.push_back(line);
    };
    uut = spawn_sampled_sensor(sys, options);
  }

  void start(std::vector<status> codes) {
    caf::anon_send(uut, start_sensor{std::move(codes)}, listener);
    consume_messages();
  }

  void stop() {
    caf::anon_send(uut, stop_sensor{});
    consume_messages();
  }

  /// The reader answers what it owes.
  void answer(size_t which) {
    world->reader->context(nullptr); // It does not run now.
    world->owed[which].deliver(world->say());
    consume_messages();
  }

  std::vector<status> codes() {
    auto result = std::vector<status>{};
    for (const auto& x : world->heard)
      result.push_back(x.code);
    world->heard.clear();
    return result;
  }

  ~fixture() override {
    end(uut);
    end(source);
    end(listener);
  }
};

using list = std::vector<status>;

} // namespace

CAF_TEST_FIXTURE_SCOPE(sampled_sensor_tests, fixture)

CAF_TEST(E4 a sensor that nobody wants does not look) {
  make(1s);
  elapse(10s);
  CAF_CHECK_EQUAL(world->looks, 0u);
  start({status::temperature_high});
  CAF_CHECK_EQUAL(world->looks, 1u);
  elapse(10s);
  CAF_CHECK_EQUAL(world->looks, 11u);
  stop();
  elapse(10s);
  CAF_CHECK_EQUAL(world->looks, 11u);
}

CAF_TEST(E48 it raises the wanted codes only) {
  make(1s);
  start({status::temperature_high});
  world->value = 90;
  elapse(3s);
  CAF_CHECK(codes() == list{status::temperature_high});
  world->value = 20;
  elapse(3s);
  CAF_CHECK(codes() == list{});
  // Another code is wanted, too: what it knows, it keeps.
  start({status::temperature_high, status::temperature_normal});
  elapse(3s);
  CAF_CHECK(codes() == list{});
  world->value = 90;
  elapse(1s);
  world->value = 20;
  elapse(1s);
  CAF_CHECK(codes()
            == (list{status::temperature_high, status::temperature_normal}));
}

CAF_TEST(E48 it looks in one rhythm however often it is started) {
  make(1s);
  for (int i = 0; i < 5; ++i) {
    start({status::temperature_high});
    stop();
  }
  start({status::temperature_high});
  start({status::temperature_high, status::temperature_normal});
  world->looks = 0;
  elapse(10s);
  CAF_CHECK_EQUAL(world->looks, 10u);
}

CAF_TEST(E48 it forgets what it saw when it is started anew) {
  make(1s);
  world->value = 90;
  start({status::temperature_high});
  CAF_CHECK(codes() == list{status::temperature_high});
  stop();
  start({status::temperature_high});
  CAF_CHECK(codes() == list{status::temperature_high});
}

CAF_TEST(E48 a reader that hangs is asked once and named) {
  make(1s);
  world->hangs = true;
  start({status::temperature_high});
  elapse(60s);
  CAF_REQUIRE_EQUAL(world->log.size(), 1u);
  CAF_CHECK_EQUAL(world->log[0], "sensor temperatures: does not answer");
  stop();
  start({status::temperature_high});
  elapse(60s);
  CAF_CHECK_EQUAL(world->looks, 1u);
  world->hangs = false;
  world->value = 90;
  answer(0);
  CAF_CHECK(codes() == list{status::temperature_high});
  CAF_CHECK_EQUAL(world->log.size(), 2u);
  elapse(2s);
  CAF_CHECK_EQUAL(world->looks, 3u);
}

CAF_TEST(E48 a reader that is told of changes begins with all there is) {
  make(0s);
  world->hangs = true;
  start({status::temperature_high});
  CAF_CHECK_EQUAL(world->all, 1u);
  answer(0);
  CAF_CHECK_EQUAL(world->looks, 2u);
  CAF_CHECK_EQUAL(world->all, 1u);
  stop();
  start({status::temperature_high});
  CAF_CHECK_EQUAL(world->all, 2u);
  // What it answers to the question of before is no news.
  world->value = 90;
  answer(1);
  CAF_CHECK(codes().empty());
  answer(2);
  CAF_CHECK(codes() == list{status::temperature_high});
  CAF_CHECK_EQUAL(world->looks, 4u);
}

CAF_TEST(E48 the log names what cannot be read and when it can be again) {
  make(1s);
  world->trouble = "cannot read temp1_input; check its rights";
  start({status::temperature_high});
  elapse(10s);
  CAF_REQUIRE_EQUAL(world->log.size(), 1u);
  CAF_CHECK_EQUAL(world->log[0], "sensor temperatures: cannot read "
                                 "temp1_input; check its rights");
  world->trouble.clear();
  elapse(10s);
  CAF_CHECK_EQUAL(world->log.size(), 2u);
}

CAF_TEST_FIXTURE_SCOPE_END()
