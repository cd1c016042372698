// Files of the kernel, and those that only look like them.

#include "adapters/sensors/readers.hpp"
#include "tests/adapters/sensors/tree.hpp"

#include <sys/stat.h>

using namespace troupe;

namespace {

struct fixture {
  fixtures::tree root;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(sensor_file_tests, fixture)

CAF_TEST(E4 a number is all of its text) {
  const std::pair<const char*, std::optional<int64_t>> table[] = {
    {"0\n", 0},
    {" 42 \n", 42},
    {"-273150", -273150},
    {"9223372036854775807", INT64_MAX},
    {"9223372036854775808", std::nullopt},
    {"", std::nullopt},
    {"\n", std::nullopt},
    {"1 2", std::nullopt},
    {"0x10", std::nullopt},
    {"1e3", std::nullopt},
    {"12abc", std::nullopt},
    {"+5", std::nullopt},
  };
  for (const auto& [text, number] : table) {
    CAF_MESSAGE(text);
    CAF_CHECK(whole_number(text) == number);
    CAF_CHECK(read_whole_number(root.put("x", text)) == number);
  }
}

CAF_TEST(E4 files that are none are not read) {
  CAF_CHECK(!read_sensor_file(root / "missing"));
  CAF_CHECK(!read_sensor_file(root.path()));
  CAF_CHECK(!read_sensor_file("/dev/zero"));
  // Nobody ever writes into it.
  CAF_REQUIRE_EQUAL(::mkfifo((root / "fifo").c_str(), 0600), 0);
  CAF_CHECK(!read_sensor_file(root / "fifo"));
}

CAF_TEST(E4 a file is read up to a bound) {
  const auto most = std::string(defaults::sensor_file_bytes, 'x');
  CAF_CHECK(read_sensor_file(root.put("most", most)) == most);
  CAF_CHECK(!read_sensor_file(root.put("more", most + "x")));
}

CAF_TEST(E4 a label is a short line of plain text) {
  CAF_CHECK_EQUAL(read_label(root.put("x", "  Core 0\nmore\n")), "Core 0");
  CAF_CHECK_EQUAL(read_label(root.put("x", "a\tb\x1b[31m\xff")), "a?b?[31m?");
  CAF_CHECK_EQUAL(read_label(root.put("x", std::string(5000, 'y'))).size(),
                  128u);
  CAF_CHECK_EQUAL(read_label(root / "missing"), "");
}

CAF_TEST(E4 a number is found by its whole name) {
  const auto text = "oom 1\noom_kill_disable 0\noom_kill 7\noom_kill 9\n";
  CAF_CHECK(number_named(text, "oom_kill") == 7);
  CAF_CHECK(number_named("oom_kill 3", "oom_kill") == 3);
  for (const auto* x :
       {"", "oom_kill", "oom_kill\n", "oom_kill x", " oom_kill 1"})
    CAF_CHECK(!number_named(x, "oom_kill"));
}

CAF_TEST(E4 entries come in the order of their numbers) {
  for (const auto* x : {"mc10", "mc2", "mc", "mcx", "mc-1", "mc3x", "power"})
    root.put(std::string{x} + "/y", "");
  CAF_CHECK(numbered_entries(root.path(), "mc")
            == (std::vector<std::string>{"mc2", "mc10"}));
  root.put("temp1_input", "");
  root.put("temp1_label", "");
  CAF_CHECK(numbered_entries(root.path(), "temp", "_input")
            == std::vector<std::string>{"temp1_input"});
  CAF_CHECK(numbered_entries(root / "missing", "mc").empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
