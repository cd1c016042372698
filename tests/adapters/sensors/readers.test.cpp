// What is read from trees that look like those of real nodes.

#include "adapters/sensors/readers.hpp"

#include "tests/adapters/sensors/tree.hpp"

using namespace troupe;
using fixtures::find_reading;

namespace {

struct fixture {
  fixtures::tree root;

  const std::string mc = "devices/system/edac/mc/";
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(reader_tests, fixture)

CAF_TEST(E4 memory errors are those of modules and of what nobody knows) {
  root.put(mc + "mc0/mc_name", "Skylake Socket#0 IMC#0\n");
  root.put(mc + "mc0/ce_count", "12\n");
  root.put(mc + "mc0/ue_count", "1\n");
  root.put(mc + "mc0/ce_noinfo_count", "2\n");
  root.put(mc + "mc0/ue_noinfo_count", "0\n");
  root.put(mc + "mc0/dimm0/dimm_label", "CPU_SrcID#0_MC#0_Chan#0_DIMM#0\n");
  root.put(mc + "mc0/dimm0/dimm_ce_count", "10\n");
  root.put(mc + "mc0/dimm0/dimm_ue_count", "1\n");
  root.put(mc + "mc0/dimm3/dimm_ce_count", "0\n");
  // A controller that cannot tell its modules apart.
  root.put(mc + "mc1/ce_count", "5\n");
  const auto x = read_memory_errors(root.path());
  CAF_CHECK_EQUAL(x.readings.size(), 6u);
  constexpr auto corrected = sensor_quantity::corrected_errors;
  constexpr auto uncorrected = sensor_quantity::uncorrected_errors;
  const auto dimm = find_reading(x, corrected, "mc0/dimm0");
  CAF_CHECK_EQUAL(dimm.value, 10);
  CAF_CHECK_EQUAL(dimm.label, "CPU_SrcID#0_MC#0_Chan#0_DIMM#0");
  CAF_CHECK_EQUAL(find_reading(x, uncorrected, "mc0/dimm0").value, 1);
  CAF_CHECK_EQUAL(find_reading(x, corrected, "mc0/dimm3").value, 0);
  CAF_CHECK_EQUAL(find_reading(x, corrected, "mc0").value, 2);
  CAF_CHECK_EQUAL(find_reading(x, uncorrected, "mc0").value, 0);
  CAF_CHECK_EQUAL(find_reading(x, corrected, "mc1").value, 5);
}

CAF_TEST(E4 a node without such hardware has no readings and no trouble) {
  CAF_CHECK(read_memory_errors(root.path()) == sensor_readings{});
  CAF_CHECK(read_temperatures(root.path()) == sensor_readings{});
}

CAF_TEST(E4 counts that cannot be are passed over) {
  for (const auto* text : {"-1\n", "", "many\n", "99999999999999999999\n"}) {
    root.put(mc + "mc0/ce_count", text);
    CAF_CHECK(read_memory_errors(root.path()).readings.empty());
  }
}

CAF_TEST(E4 temperatures come in degrees with the limits of their chips) {
  root.put("class/hwmon/hwmon0/name", "coretemp\n");
  root.put("class/hwmon/hwmon0/temp1_input", "45500\n");
  root.put("class/hwmon/hwmon0/temp1_label", "Package id 0\n");
  root.put("class/hwmon/hwmon0/temp1_max", "80000\n");
  root.put("class/hwmon/hwmon0/temp1_crit", "100000\n");
  root.put("class/hwmon/hwmon0/temp10_input", "-5000\n");
  root.put("class/hwmon/hwmon0/fan1_input", "1200\n");
  root.put("class/hwmon/hwmon1/temp1_input", "30000\n");
  const auto x = read_temperatures(root.path());
  CAF_CHECK_EQUAL(x.readings.size(), 3u);
  const auto of = sensor_quantity::temperature;
  const auto package = find_reading(x, of, "hwmon0/temp1");
  CAF_CHECK_EQUAL(package.value, 45.5);
  CAF_CHECK_EQUAL(package.label, "coretemp Package id 0");
  CAF_CHECK(package.limit == 80.0);
  CAF_CHECK(package.critical == 100.0);
  const auto other = find_reading(x, of, "hwmon0/temp10");
  CAF_CHECK_EQUAL(other.value, -5);
  CAF_CHECK(!other.limit && !other.critical);
  CAF_CHECK_EQUAL(find_reading(x, of, "hwmon1/temp1").value, 30);
}

CAF_TEST(E4 limits that are none are left out and so are odd temperatures) {
  const auto hwmon = std::string{"class/hwmon/hwmon0/"};
  root.put(hwmon + "temp1_input", "20000\n");
  for (const auto* text : {"0\n", "-1\n", "65261850\n", "x\n", ""}) {
    root.put(hwmon + "temp1_max", text);
    const auto x = read_temperatures(root.path());
    CAF_REQUIRE_EQUAL(x.readings.size(), 1u);
    CAF_CHECK(!x.readings[0].limit);
  }
  for (const auto* text : {"-300000\n", "99999999\n", "warm\n"}) {
    root.put(hwmon + "temp1_input", text);
    CAF_CHECK(read_temperatures(root.path()).readings.empty());
  }
}

CAF_TEST(E4 pressure is that of the last ten seconds) {
  const std::pair<const char*, std::optional<double>> table[] = {
    {"some avg10=1.53 avg60=0.87 avg300=0.73 total=4192\nfull avg10=0.5 x",
     1.53},
    {"some avg10=0.00 avg60", 0.0},
    {"some avg10=100.00", 100.0},
    {"some avg10=100.01 ", std::nullopt},
    {"some avg10=-1 ", std::nullopt},
    {"some avg10=nan ", std::nullopt},
    {"some avg10=inf ", std::nullopt},
    {"some avg10=1e1 ", std::nullopt},
    {"some avg10= 1", std::nullopt},
    {"full avg10=1.53 ", std::nullopt},
    {"some avg10=", std::nullopt},
    {"", std::nullopt},
  };
  for (const auto& [text, value] : table) {
    CAF_MESSAGE(text);
    CAF_CHECK(pressure_in(text) == value);
  }
  const auto file = root.put("pressure/memory", table[0].first);
  const auto x = read_memory_pressure(file, "node");
  CAF_CHECK_EQUAL(
    find_reading(x, sensor_quantity::memory_pressure, "node").value, 1.53);
  const auto none = read_memory_pressure(root / "missing", "node");
  CAF_CHECK(none.readings.empty());
  CAF_CHECK(none.trouble.find("missing") != std::string::npos);
}

CAF_TEST(E4 kills are counted by both versions of control groups) {
  const auto kills = [&](const std::string& text) {
    return read_memory_kills(root.put("kills", text), "node");
  };
  const auto of = sensor_quantity::memory_kills;
  for (const auto* text :
       {"low 0\nhigh 0\nmax 9\noom 2\noom_kill 3\noom_group_kill 0\n",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        "nr_free_pages 1\noom_kill 3\ndrop_pagecache 0\n"})
    CAF_CHECK_EQUAL(find_reading(kills(text), of, "node").value, 3);
  for (const auto* text : {"", "oom_kill -3\n", "oom_kill_disable 1\n"}) {
    CAF_CHECK(kills(text).readings.empty());
    CAF_CHECK(kills(text).trouble.find("4.13") != std::string::npos);
  }
}

CAF_TEST(E4 a file system is measured by its path) {
  const auto x = read_file_system(root.path());
  const auto y = find_reading(x, sensor_quantity::file_system_use, root.path());
  CAF_CHECK(y.value >= 0 && y.value <= 100);
  CAF_CHECK(y.label == "space" || y.label == "files");
  // One that is always empty has none of either.
  CAF_CHECK_EQUAL(read_file_system("/proc").readings[0].value, 0);
  const auto none = read_file_system(root / "missing");
  CAF_CHECK(none.readings.empty());
  CAF_CHECK(none.trouble.find("missing") != std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()
