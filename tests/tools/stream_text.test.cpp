// What `troupe io` prints.

#include "tests/test.hpp"
#include "tools/stream_table.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

std::vector<stream_row> sample() {
  return stream_rows(nlohmann::json::parse(R"([
    {"nspace": "d@1", "rank": 0, "stream": "stdout", "begin": 10, "end": 1110,
     "over": false, "sinks": [
       {"name": "node 2", "policy": "block", "taken": 1000, "missed": 0},
       {"name": "tool t:0", "policy": "drop_oldest", "taken": 1110,
        "missed": 40}]},
    {"nspace": "d@1", "rank": 1, "stream": "stderr", "begin": 0, "end": 5,
     "over": true, "sinks": []}])"));
}

} // namespace

CAF_TEST(I2 the streams are a table with a line for each sink) {
  CAF_CHECK_EQUAL(
    streams_text(sample()),
    "JOB  RANK  STREAM  BEGIN  END   STATE  SINKS\n"
    "d@1  0     stdout  10     1110  open   node 2: block, 1000\n"
    "                                       tool t:0: drop_oldest, 1110 (40 "
    "missed)\n"
    "d@1  1     stderr  0      5     over   -\n");
}

CAF_TEST(I8 offsets are a line for each stream) {
  CAF_CHECK_EQUAL(offsets_text(sample()), "d@1:0 stdout 10 1110 open\n"
                                          "d@1:1 stderr 0 5 over\n");
}

CAF_TEST(I2 an answer that is none of ours shows nothing) {
  for (const auto* wrong :
       {"null", "[]", "7", R"(["x"])", R"({"nspace": "a"})"})
    CAF_CHECK(stream_rows(nlohmann::json::parse(wrong)).empty());
  const auto odd = stream_rows(nlohmann::json::parse(
    R"([{"nspace": 1, "rank": "x", "sinks": 7, "begin": -4}])"));
  CAF_REQUIRE_EQUAL(odd.size(), 1u);
  CAF_CHECK_EQUAL(odd.front().begin, 0u);
  CAF_CHECK(odd.front().sinks.empty());
}

CAF_TEST(I2 names from elsewhere cannot reach the terminal) {
  auto rows = std::vector<stream_row>(1);
  rows.front().source = {"a\x1b[2J", 0};
  CAF_CHECK_EQUAL(offsets_text(rows).find('\x1b'), std::string::npos);
  CAF_CHECK_EQUAL(streams_text(rows).find('\x1b'), std::string::npos);
}
