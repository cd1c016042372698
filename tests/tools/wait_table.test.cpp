// What `troupe jobs --waits` shows.

#include "tools/wait_table.hpp"

#include "tests/test.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

using nlohmann::json;

const auto operations = json::parse(R"([
  {"kind": "fence", "job": "d@1", "id": "fence:d@1#3",
   "participants": ["d@1:*"], "size": 64, "joined": 61,
   "missing": [{"proc": "d@1:3", "host": "n2"}, {"proc": "d@1:7"}],
   "others": 1, "unknown": 0, "age_ms": 12900, "at_least": false},
  {"kind": "connect", "job": "d@2", "participants": ["d@2:*"],
   "size": 2, "joined": 1, "missing": [], "others": 0, "unknown": 1,
   "age_ms": 900, "at_least": true},
  {"kind": "fence", "job": "d@3", "participants": ["d@3:*"], "size": 2,
   "joined": 2, "missing": [], "others": 0, "unknown": 0, "age_ms": 0,
   "at_least": false}])");

const auto groups = json::parse(R"([
  {"id": "late", "phase": "constructing", "members": ["d@4:0", "d@4:1"],
   "leaders": [], "missing": ["d@4:1"]},
  {"id": "done", "phase": "complete", "members": ["d@4:0"], "leaders": [],
   "missing": []}])");

} // namespace

CAF_TEST(PAGE-10 who has called and who is waited for are a line) {
  CAF_CHECK_EQUAL(
    wait_text(wait_rows(operations, groups)),
    "JOB  CALL                  CALLED    SECONDS  ID           WAITS FOR\n"
    "d@1  fence                 61 of 64  12       fence:d@1#3  "
    "d@1:3 on n2, d@1:7, 1 more\n"
    "d@2  connect               1 of 2    0+       -            "
    "1 of nodes that do not answer\n"
    "d@3  fence                 2 of 2    0        -            its end\n"
    "d@4  group construct late  1 of 2    -        -            d@4:1\n");
}

CAF_TEST(PAGE-10 groups are rows like others) {
  const auto rows = wait_rows(json::array(), groups);
  CAF_REQUIRE_EQUAL(rows.size(), 1u);
  CAF_CHECK_EQUAL(rows[0], json::parse(R"(
    {"kind": "group construct", "group": "late", "job": "d@4", "size": 2,
     "joined": 1, "missing": [{"proc": "d@4:1"}], "others": 0,
     "unknown": 0})"));
}

CAF_TEST(PAGE-10 of a group some are named) {
  auto group = json::parse(R"({"id": "g", "phase": "destructing"})");
  for (int rank = 0; rank < 10; ++rank)
    group["missing"].push_back("d@1:" + std::to_string(rank));
  const auto rows = wait_rows(json::array(), json::array({group}));
  CAF_REQUIRE_EQUAL(rows.size(), 1u);
  CAF_CHECK_EQUAL(rows[0]["missing"].size(), 8u);
  CAF_CHECK_EQUAL(rows[0]["others"], json(2u));
}

CAF_TEST(PAGE-10 nothing waits and nonsense is left out) {
  const auto titles = "JOB  CALL  CALLED  SECONDS  ID  WAITS FOR\n";
  CAF_CHECK_EQUAL(wait_text(wait_rows(json::array(), json::array())), titles);
  CAF_CHECK_EQUAL(wait_text(wait_rows(json("x"), json::array({1, "y"}))),
                  titles);
}

CAF_TEST(X31 names of processes do not reach the terminal) {
  auto bad = operations;
  bad[0]["job"] = "a\x1b[31m";
  CAF_CHECK(wait_text(wait_rows(bad, groups)).find('\x1b')
            == std::string::npos);
}
