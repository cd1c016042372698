// What `troupe io` is told of the streams.

#include "actors/io/io_report.hpp"

#include "tests/test.hpp"
#include "tools/report.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

CAF_TEST(I2 a report names the streams in order and who gets them) {
  auto list = io_list{};
  auto& b = list.streams.emplace_back();
  b.stream = {{"job", 1}, io_channels::stdout_};
  b.begin = 10;
  b.end = 110;
  b.sinks = {{"tool t:0", io_policy::drop_newest, 90, 7}};
  auto& a = list.streams.emplace_back();
  a.stream = {{"job", 0}, io_channels::stderr_};
  a.is_over = true;
  const auto got = to_json(make_io_report(list));
  const auto expected = nlohmann::json::parse(R"([
    {"nspace": "job", "rank": 0, "stream": "stderr", "begin": 0, "end": 0,
     "over": true, "sinks": []},
    {"nspace": "job", "rank": 1, "stream": "stdout", "begin": 10, "end": 110,
     "over": false, "sinks": [{"name": "tool t:0", "policy": "drop_newest",
                               "taken": 90, "missed": 7}]}])");
  CAF_CHECK_EQUAL(got, expected);
}

CAF_TEST(I2 without streams a report is an empty list) {
  CAF_CHECK_EQUAL(to_json(make_io_report({})), nlohmann::json::array());
}
