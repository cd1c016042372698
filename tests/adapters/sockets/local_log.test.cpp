#include "adapters/sockets/local_log.hpp"

#include "tests/test.hpp"

#include <vector>

using namespace std::chrono_literals;
using namespace troupe;

CAF_TEST(LIM25 too many lines become a count) {
  std::vector<std::string> lines;
  local_log uut{
    [&](severity, const std::string& line) { lines.push_back(line); }, 3};
  const auto t0 = local_log::clock::now();
  for (auto i = 0; i < 10; ++i)
    uut.write("user 1", severity::warning, "line", t0 + i * 10ms);
  CAF_CHECK_EQUAL(lines.size(), 3u);
  uut.write("user 2", severity::warning, "of another", t0 + 100ms);
  CAF_CHECK_EQUAL(lines.back(), "of another");
  lines.pop_back();
  uut.write("user 1", severity::warning, "next", t0 + 1s);
  CAF_REQUIRE_EQUAL(lines.size(), 5u);
  CAF_CHECK_EQUAL(lines[3], "7 more lines about user 1 were not written (L25)");
  CAF_CHECK_EQUAL(lines[4], "next");
}

CAF_TEST(a log without sink drops its lines) {
  const auto t0 = local_log::clock::now();
  auto threw = false;
  try {
    local_log uut{{}, 1};
    for (auto i = 0; i < 3;
         ++i) // More than are written, and the line of these.
      uut.write("user 1", severity::error, "line", t0 + i * 600ms);
  } catch (const std::exception&) {
    threw = true;
  }
  CAF_CHECK(!threw);
}
