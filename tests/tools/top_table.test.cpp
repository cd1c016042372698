// The tables of `troupe top`.

#include "tools/top_table.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

using nlohmann::json;

dvm_picture sample() {
  auto result = dvm_picture{};
  result.nodes = json::parse(R"([
    {"rank": 0, "name": "n0", "state": "live", "slots": 4, "procs": 1},
    {"rank": 1, "name": "n1", "state": "lost", "slots": 8, "procs": 2,
     "lanes": 2}])");
  result.jobs = json::parse(R"([
    {"nspace": "d@1", "state": "running", "nodes": 2, "procs": 2, "cmd": "app"},
    {"nspace": "d@2", "state": "ending", "nodes": 1, "procs": 1,
     "cmd": "other"}])");
  result.processes = json::parse(R"([
    {"nspace": "d@1", "rank": 0, "node": 0, "host": "n0", "pid": 900,
     "cpus": "0", "state": "running", "exit": 0, "cmd": "app"},
    {"nspace": "d@1", "rank": 10, "node": 1, "host": "n1", "pid": 80,
     "cpus": "", "state": "running", "exit": 0, "cmd": "app"},
    {"nspace": "d@2", "rank": 2, "node": 1, "host": "n1", "pid": 7,
     "cpus": "", "state": "ended", "exit": 3, "cmd": "other"}])");
  result.usage = {
    {"d@1:0", {99.5, 12}}, {"d@1:10", {3, 100}}, {"d@2:2", {50, 50}}};
  return result;
}

std::vector<std::string> ids(const std::vector<top_row>& rows) {
  auto result = std::vector<std::string>{};
  for (const auto& x : rows)
    result.push_back(x.id);
  return result;
}

std::vector<std::string> sorted(top_kind kind, const char* column,
                                bool is_reversed) {
  auto rows = rows_of(kind, sample(), {});
  sort_rows(rows, find_column(kind, column).value(), is_reversed);
  return ids(rows);
}

using names = std::vector<std::string>;

} // namespace

CAF_TEST(OPS-T1 ranks have a row each with what they use while they run) {
  CAF_CHECK_EQUAL(to_text(sample(), {top_kind::ranks}, {}, std::nullopt, false),
                  "JOB  RANK  NODE  PID  STATE    CPU%  MEM  COMMAND\n"
                  "d@1     0  n0    900  running  99.5   12  app\n"
                  "d@1    10  n1     80  running   3.0  100  app\n"
                  "d@2     2  n1      7  ended       -    -  other\n");
}

CAF_TEST(OPS-T1 jobs and nodes have the sum of their ranks) {
  CAF_CHECK_EQUAL(to_text(sample(), {top_kind::jobs, top_kind::nodes}, {},
                          std::nullopt, false),
                  "JOB  STATE    NODES  PROCS  RUN   CPU%  MEM  COMMAND\n"
                  "d@1  running      2      2    2  102.5  112  app\n"
                  "d@2  ending       1      1    0      -    -  other\n"
                  "\n"
                  "RANK  NAME  STATE  SLOTS  PROCS  CPU%  MEM  LANES\n"
                  "   0  n0    live       4      1  99.5   12      -\n"
                  "   1  n1    lost       8      2   3.0  100      2\n");
}

CAF_TEST(OPS-T1 a summary counts) {
  CAF_CHECK_EQUAL(summary_of(sample()),
                  "2 nodes, 2 jobs, 3 processes: 1 ended, 2 running");
  CAF_CHECK_EQUAL(summary_of({}), "0 nodes, 0 jobs, 0 processes");
}

CAF_TEST(OPS-T2 rows are sorted by numbers or text and what is not known is apart) {
  CAF_CHECK_EQUAL(sorted(top_kind::ranks, "rank", false),
                  names({"d@1:0", "d@2:2", "d@1:10"}));
  CAF_CHECK_EQUAL(sorted(top_kind::ranks, "PID", true),
                  names({"d@1:0", "d@1:10", "d@2:2"}));
  CAF_CHECK_EQUAL(sorted(top_kind::ranks, "cpu", true),
                  names({"d@1:0", "d@1:10", "d@2:2"}));
  CAF_CHECK_EQUAL(sorted(top_kind::ranks, "cpu%", false),
                  names({"d@2:2", "d@1:10", "d@1:0"}));
  CAF_CHECK_EQUAL(sorted(top_kind::nodes, "name", true), names({"1", "0"}));
  // As they were where they are the same.
  CAF_CHECK_EQUAL(sorted(top_kind::ranks, "node", false),
                  names({"d@1:0", "d@1:10", "d@2:2"}));
  CAF_CHECK(!find_column(top_kind::nodes, "pid"));
  CAF_CHECK(!find_column(top_kind::ranks, ""));
}

CAF_TEST(OPS-T2 a filter looks into all cells whatever the case) {
  const auto with = [](std::string filter) {
    auto scope = top_scope{};
    scope.filter = std::move(filter);
    return ids(rows_of(top_kind::ranks, sample(), scope));
  };
  CAF_CHECK_EQUAL(with("OTHER"), names({"d@2:2"}));
  CAF_CHECK_EQUAL(with("n1"), names({"d@1:10", "d@2:2"}));
  CAF_CHECK(with("nothing").empty());
}

CAF_TEST(OPS-T2 ranks are those of one job or of one node) {
  auto scope = top_scope{};
  scope.nspace = "d@1";
  CAF_CHECK_EQUAL(ids(rows_of(top_kind::ranks, sample(), scope)),
                  names({"d@1:0", "d@1:10"}));
  scope = {};
  scope.node = 1;
  CAF_CHECK_EQUAL(ids(rows_of(top_kind::ranks, sample(), scope)),
                  names({"d@1:10", "d@2:2"}));
}

CAF_TEST(OPS-T1 X31 what a DVM says cannot reach the terminal) {
  auto picture = sample();
  picture.processes[0]["cmd"] = "\x1b[2Jx";
  picture.processes[1]["state"] = "\x1b[2Jx";
  const auto shown =
    to_text(picture, {top_kind::ranks}, {}, std::nullopt, false);
  CAF_CHECK(shown.find('\x1b') == std::string::npos);
  CAF_CHECK(summary_of(picture).find('\x1b') == std::string::npos);
}

CAF_TEST(OPS-T1 an answer that is none of ours shows nothing) {
  for (const auto* text : {"null", "[]", "7", R"(["x", 7])"}) {
    auto picture = dvm_picture{};
    picture.nodes = picture.jobs = picture.processes = json::parse(text);
    for (const auto kind : {top_kind::ranks, top_kind::jobs, top_kind::nodes})
      CAF_CHECK(rows_of(kind, picture, {}).empty());
  }
  auto odd = dvm_picture{};
  odd.processes = json::parse(R"([{"rank": "x", "pid": [1]}])");
  CAF_CHECK_EQUAL(rows_of(top_kind::ranks, odd, {}).size(), 1u);
}

CAF_TEST(OPS-T3 programs get all with what is used) {
  const auto got = to_json(sample());
  CAF_CHECK(got["processes"][0]["cpu_percent"] == 99.5);
  CAF_CHECK(got["processes"][1]["memory_mb"] == 100);
  CAF_CHECK(!got["processes"][2].contains("cpu_percent"));
  CAF_CHECK(got["nodes"].size() == 2 && got["jobs"].size() == 2);
}

CAF_TEST(OPS-T1 tables are called by their names) {
  for (const auto x : {top_kind::ranks, top_kind::jobs, top_kind::nodes}) {
    CAF_CHECK(read_top_kind(text_of(x)) == x);
    CAF_CHECK_EQUAL(std::string{columns_of(x)[state_column(x)].title}, "STATE");
  }
  CAF_CHECK(!read_top_kind("pids"));
}
