// When a measured value becomes an event, and when it does not.

#include "actors/events/sensor_rules.hpp"

#include "config/defaults.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <cmath>
#include <limits>

using namespace troupe;

namespace {

/// The codes that a row of values makes, one per value; 0: no event.
struct series {
  const char* what;
  sensor_quantity of;
  std::vector<double> values;
  std::vector<status> codes; // success: no event
};

constexpr auto none = status::success;

sensor_reading reading(sensor_quantity of, double x) {
  auto result = sensor_reading{};
  result.of = of;
  result.device = "device";
  result.value = x;
  if (of == sensor_quantity::temperature) {
    result.limit = 80;
    result.critical = 100;
  }
  return result;
}

double value_of(const environment_event& x, std::string_view key) {
  const auto* y = find(x.infos, key);
  const auto* z = y != nullptr ? std::get_if<double>(&y->data) : nullptr;
  return z != nullptr ? *z : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

CAF_TEST(E48 an event is raised on a crossing and not on each sample) {
  using q = sensor_quantity;
  using s = status;
  const series table[] = {
    {"in order", q::temperature, {20, 79.9, 20}, {none, none, none}},
    {"high from the beginning",
     q::temperature,
     {85, 86},
     {s::temperature_high, none}},
    {"exactly the limit", q::temperature, {80}, {s::temperature_high}},
    {"trembling around the limit",
     q::temperature,
     {80, 79, 80, 77.5, 81, 76.9},
     {s::temperature_high, none, none, none, none, s::temperature_normal}},
    {"up step by step",
     q::temperature,
     {70, 90, 101, 98, 96, 76},
     {none, s::temperature_high, s::temperature_critical, none,
      s::temperature_high, s::temperature_normal}},
    {"up at once",
     q::temperature,
     {20, 120, 20},
     {none, s::temperature_critical, s::temperature_normal}},
    {"file system",
     q::file_system_use,
     {94, 95, 94, 92.9, 99, 100},
     {none, s::file_system_full, none, s::file_system_normal,
      s::file_system_full, none}},
    {"memory pressure",
     q::memory_pressure,
     {0, 41, 30, 19, 40},
     {none, s::memory_pressure_high, none, s::memory_pressure_normal,
      s::memory_pressure_high}},
    {"counter",
     q::corrected_errors,
     {7, 7, 9, 9, 2, 0},
     {none, none, s::memory_errors_corrected, none, s::memory_errors_corrected,
      none}},
    {"harmful errors",
     q::uncorrected_errors,
     {0, 1},
     {none, s::memory_errors_uncorrected}},
    {"kills",
     q::memory_kills,
     {3, 4, 6},
     {none, s::out_of_memory, s::out_of_memory}},
    {"link",
     q::link,
     {1, 1, 0, 0, 1},
     {none, none, s::link_down, none, s::link_up}},
    {"link that is down from the beginning",
     q::link,
     {0, 0, 1},
     {none, none, s::link_up}},
  };
  for (const auto& row : table) {
    CAF_MESSAGE(row.what);
    sensor_rules uut;
    for (size_t i = 0; i < row.values.size(); ++i) {
      const auto x = uut.judge(reading(row.of, row.values[i]));
      CAF_CHECK_EQUAL(static_cast<int>(x ? x->code : none),
                      static_cast<int>(row.codes[i]));
    }
  }
}

CAF_TEST(E48 an event says what is affected and by how much) {
  sensor_rules uut;
  auto x = reading(sensor_quantity::temperature, 90);
  x.label = "Core 0";
  auto what = uut.judge(x);
  CAF_REQUIRE(what);
  CAF_CHECK(text(what->infos, event_device_key) == "device");
  CAF_CHECK(text(what->infos, event_label_key) == "Core 0");
  CAF_CHECK_EQUAL(value_of(*what, event_value_key), 90);
  CAF_CHECK_EQUAL(value_of(*what, event_limit_key), 80);
  x.value = 110;
  what = uut.judge(x);
  CAF_REQUIRE(what);
  CAF_CHECK_EQUAL(value_of(*what, event_limit_key), 100);
  x = reading(sensor_quantity::corrected_errors, 5);
  uut.judge(x);
  x.value = 12;
  what = uut.judge(x);
  CAF_REQUIRE(what);
  CAF_CHECK(number<uint64_t>(what->infos, event_count_key) == 7u);
}

CAF_TEST(E48 devices and quantities stand for themselves) {
  sensor_rules uut;
  auto a = reading(sensor_quantity::corrected_errors, 5);
  auto b = a;
  b.device = "other";
  auto c = a;
  c.of = sensor_quantity::uncorrected_errors;
  uut.judge(a);
  CAF_CHECK(!uut.judge(b));
  CAF_CHECK(!uut.judge(c));
  c.value = 6;
  CAF_CHECK(uut.judge(c));
  CAF_CHECK(!uut.judge(a));
}

CAF_TEST(E48 a device without a limit of its own has that of the settings) {
  auto limits = sensor_limits{};
  limits.temperature = 50;
  sensor_rules uut{limits};
  auto x = reading(sensor_quantity::temperature, 60);
  x.limit.reset();
  x.critical.reset();
  const auto what = uut.judge(x);
  CAF_REQUIRE(what);
  CAF_CHECK(what->code == status::temperature_high);
  sensor_rules other;
  CAF_CHECK(!other.judge(x));
}

CAF_TEST(E48 numbers that are none make no event) {
  sensor_rules uut;
  for (const auto x : {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()})
    for (const auto of :
         {sensor_quantity::temperature, sensor_quantity::memory_kills})
      CAF_CHECK(!uut.judge(reading(of, x)));
  CAF_CHECK(!uut.judge(reading(sensor_quantity::memory_kills, 0)));
  CAF_CHECK(!uut.judge(reading(sensor_quantity::memory_kills, -5)));
  CAF_CHECK(!uut.judge(reading(sensor_quantity::memory_kills, 1e300)));
}

CAF_TEST(E48 devices are remembered up to a bound) {
  sensor_rules uut;
  auto x = reading(sensor_quantity::temperature, 20);
  for (size_t i = 0; i < defaults::sensor_devices; ++i) {
    x.device = std::to_string(i);
    uut.judge(x);
  }
  x.value = 90;
  CAF_CHECK(uut.judge(x));
  x.device = "one more";
  CAF_CHECK(!uut.judge(x));
}

CAF_TEST(E48 levels alternate and counts add up for any values) {
  CAF_CHECK(rc::check([](const std::vector<uint8_t>& values) {
    sensor_rules uut;
    auto last = none;
    auto counted = uint64_t{0};
    auto expected = uint64_t{0};
    for (size_t i = 0; i < values.size(); ++i) {
      const auto x =
        uut.judge(reading(sensor_quantity::temperature, values[i]));
      if (x) {
        RC_ASSERT(x->code != last);
        RC_ASSERT(x->code != status::temperature_normal || values[i] < 80);
        RC_ASSERT(x->code != status::temperature_high
                  || values[i]
                       >= (last == status::temperature_critical ? 77 : 80));
        RC_ASSERT(x->code != status::temperature_critical || values[i] >= 100);
        last = x->code;
      }
      // Grows only: what the counter's events say is what it has grown by.
      expected += i > 0 ? values[i] : 0;
      const auto y = uut.judge(
        reading(sensor_quantity::memory_kills, static_cast<double>(expected)));
      if (y)
        counted += number<uint64_t>(y->infos, event_count_key).value_or(0);
    }
    RC_ASSERT(counted == expected);
  }));
}
