// Metrics as text, in both formats.

#include "adapters/metrics/metrics_text.hpp"

#include "tests/test.hpp"

#include <sstream>

using namespace troupe;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  auto result = std::vector<std::string>{};
  auto in = std::istringstream{text};
  for (auto line = std::string{}; std::getline(in, line);)
    result.push_back(line);
  return result;
}

std::vector<metric_family> example() {
  return {{"troupe_jobs_total", "Jobs", metric_kind::counter, {{{}, 3}}},
          {"troupe_nodes",
           "Nodes",
           metric_kind::gauge,
           {{{{"state", "live"}}, 2}, {{{"state", "a \"b\\\n"}}, 0}}}};
}

} // namespace

CAF_TEST(families have their help and type and samples their labels) {
  const auto lines = lines_of(metrics_text(example(), false));
  CAF_REQUIRE_EQUAL(lines.size(), 7u);
  CAF_CHECK_EQUAL(lines[0], "# HELP troupe_jobs_total Jobs");
  CAF_CHECK_EQUAL(lines[1], "# TYPE troupe_jobs_total counter");
  CAF_CHECK_EQUAL(lines[2].substr(0, 19), "troupe_jobs_total 3");
  CAF_CHECK_EQUAL(lines[3], "# HELP troupe_nodes Nodes");
  CAF_CHECK_EQUAL(lines[4], "# TYPE troupe_nodes gauge");
  CAF_CHECK_EQUAL(lines[5].substr(0, 28), "troupe_nodes{state=\"live\"} 2");
}

CAF_TEST(what a label holds cannot end it) {
  const auto text = metrics_text(example(), false);
  CAF_CHECK(text.find("{state=\"a \\\"b\\\\?\"} 0") != std::string::npos);
}

CAF_TEST(OpenMetrics calls a counter by the name before its end) {
  const auto lines = lines_of(metrics_text(example(), true));
  CAF_REQUIRE(lines.size() > 3);
  CAF_CHECK_EQUAL(lines[0], "# HELP troupe_jobs Jobs");
  CAF_CHECK_EQUAL(lines[1], "# TYPE troupe_jobs counter");
  CAF_CHECK_EQUAL(lines[2].substr(0, 19), "troupe_jobs_total 3");
  CAF_CHECK_EQUAL(lines[3], "# HELP troupe_nodes Nodes");
  CAF_CHECK_EQUAL(lines.back(), "# EOF");
}

CAF_TEST(a histogram ends with all there is) {
  auto x = metric_sample{};
  x.value = 1.5;
  x.count = 4;
  x.buckets = {{0.5, 1}, {1.5, 3}};
  const auto text = metrics_text(
    {{"troupe_late_seconds", "Late", metric_kind::histogram, {x}}}, true);
  for (const auto* part :
       {"# TYPE troupe_late_seconds histogram\n",
        "troupe_late_seconds_count 4\n", "troupe_late_seconds_sum 1.5",
        "troupe_late_seconds_bucket{le=\"0.5",
        "troupe_late_seconds_bucket{le=\"+Inf\"} 4\n"})
    CAF_CHECK(text.find(part) != std::string::npos);
}
