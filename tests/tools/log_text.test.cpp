// What troupe log and troupe trace make of the answers of nodes.

#include "tests/test.hpp"
#include "tools/log_command.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace troupe;
using nlohmann::json;

namespace {

json step(int64_t at, const char* text) {
  return {{"at", at}, {"step", "called"}, {"text", text}};
}

} // namespace

CAF_TEST(TRC-1 steps of all nodes are in the order of their times) {
  const auto nodes = json::array(
    {json{{"rank", 0},
          {"name", "n0"},
          {"steps", json::array({step(1'000'000, "a"), step(3'500'000, "c")})}},
     json{{"rank", 1},
          {"name", "n\x1b"},
          {"steps", json::array({step(2'250'000, "b\x1b")})}},
     json{{"rank", 2}, {"trouble", "silent"}}});
  const auto steps = steps_of(nodes);
  CAF_REQUIRE_EQUAL(steps.size(), 3u);
  CAF_CHECK_EQUAL(steps[1]["where"].get<int>(), 1);
  const auto text = steps_to_text("fence:job#1", steps);
  CAF_CHECK_EQUAL(text.find("fence:job#1, "), 0u);
  CAF_CHECK(text.find(", 2.500 ms\n") != std::string::npos);
  CAF_CHECK(text.find("1.250  n\\x1b  b\\x1b\n") != std::string::npos);
  CAF_CHECK(text.find('\x1b') == std::string::npos);
}

CAF_TEST(TRC-1 what several nodes know of an operation is put together) {
  const auto summary = [](const char* id, int first, int last,
                          const char* status) {
    auto result =
      json{{"id", id}, {"first", first}, {"last", last}, {"steps", 2}};
    if (*status != 0)
      result["status"] = status;
    return result;
  };
  const auto nodes = json::array(
    {json{{"rank", 0},
          {"latest", json::array({summary("x", 10, 20, "success"),
                                  summary("y", 5, 6, "")})}},
     json{{"rank", 1},
          {"latest", json::array({summary("x", 8, 15, "PMIX_ERR_TIMEOUT")})}}});
  const auto all = latest_of(nodes);
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  CAF_CHECK_EQUAL(all[0]["id"].get<std::string>(), "x");
  CAF_CHECK_EQUAL(all[0]["first"].get<int>(), 8);
  CAF_CHECK_EQUAL(all[0]["last"].get<int>(), 20);
  CAF_CHECK_EQUAL(all[0]["nodes"].get<int>(), 2);
  CAF_CHECK_EQUAL(all[0]["steps"].get<int>(), 4);
  CAF_CHECK_EQUAL(all[0]["status"].get<std::string>(), "PMIX_ERR_TIMEOUT");
  CAF_CHECK(!all[1].contains("status"));
}

CAF_TEST(X31 answers that make no sense are no harm) {
  for (const auto* text :
       {"null", "7", "[]", "{}", "[7,null,[]]",
        R"([{"rank":"x","name":7,"steps":{},"latest":"x","levels":7}])",
        R"([{"steps":[7,{"at":"x","text":{}}],"latest":[{"id":null}]}])"}) {
    const auto nodes = json::parse(text);
    steps_to_text("x", steps_of(nodes));
    latest_to_text(latest_of(nodes));
    CAF_CHECK(levels_to_text(nodes).find("SUBJECT") == 0);
  }
}

CAF_TEST(LOG-2 levels are a column for each node) {
  const auto nodes = json::array(
    {json{{"rank", 0}, {"name", "n0"}, {"levels", {{"events", "debug"}}}},
     json{{"rank", 1}, {"trouble", "silent"}},
     json{{"rank", 2}, {"name", "n2"}, {"levels", {{"events", "error"}}}}});
  const auto text = levels_to_text(nodes);
  CAF_CHECK_EQUAL(text.find("SUBJECT      n0     n2\n"), 0u);
  CAF_CHECK(text.find("events       debug  error\n") != std::string::npos);
  CAF_CHECK(text.find("jobs         -      -\n") != std::string::npos);
}
