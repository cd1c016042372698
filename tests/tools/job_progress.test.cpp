// What `troupe run --progress` says of a job.

#include "tools/job_progress.hpp"

#include "tests/test.hpp"
#include "tools/printing.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

using nlohmann::json;

job_progress with_job(size_t procs) {
  auto result = job_progress{};
  result.add_job("d@1", procs);
  return result;
}

} // namespace

CAF_TEST(OPS-T5 a start counts those that run and those that have connected) {
  auto x = with_job(3);
  CAF_CHECK_EQUAL(x.text(), "started 0 of 3 processes");
  x.change({"d@1", 0}, proc_state::running);
  x.change({"d@1", 2}, proc_state::launch_underway);
  CAF_CHECK_EQUAL(x.text(), "started 1 of 3 processes");
  x.change({"d@1", 0}, proc_state::connected);
  CAF_CHECK_EQUAL(x.text(), "started 1 of 3 processes, connected 1");
  x.change({"d@1", 1}, proc_state::running);
  x.change({"d@1", 2}, proc_state::running);
  CAF_CHECK_EQUAL(x.text(), "");
}

CAF_TEST(OPS-T5 an end counts those that are over) {
  auto x = with_job(2);
  x.change({"d@1", 0}, proc_state::running);
  x.change({"d@1", 1}, proc_state::connected);
  CAF_CHECK_EQUAL(x.text(), "");
  x.end();
  CAF_CHECK_EQUAL(x.text(), "ended 0 of 2 processes");
  x.change({"d@1", 1}, proc_state::aborted_by_sig);
  CAF_CHECK_EQUAL(x.text(), "ended 1 of 2 processes");
  x.remove_job("d@1");
  CAF_CHECK_EQUAL(x.text(), "");
}

CAF_TEST(OPS-T5 a process that is started again has to start again) {
  auto x = with_job(1);
  x.change({"d@1", 0}, proc_state::connected);
  x.change({"d@1", 0}, proc_state::restart);
  CAF_CHECK_EQUAL(x.text(), "started 0 of 1 process");
}

CAF_TEST(OPS-T5 what is none of the job counts for nothing) {
  auto x = with_job(1);
  x.change({"d@2", 0}, proc_state::running);
  x.change({"d@1", 1}, proc_state::running);
  x.change({"d@1", rank_wildcard}, proc_state::running);
  CAF_CHECK_EQUAL(x.text(), "started 0 of 1 process");
  CAF_CHECK_EQUAL(job_progress{}.text(), "");
}

CAF_TEST(OPS-T5 a DVM tells of jobs that this launcher waits for) {
  auto x = job_progress{};
  x.read(json::parse(R"([{"nspace": "d@1", "state": "running"},
                         {"nspace": "d@2", "state": "running"},
                         {"nspace": "d@2", "state": "starting"}, 7,
                         {"nspace": 7, "state": []}])"),
         {"d@2"});
  CAF_CHECK_EQUAL(x.text(), "started 1 of 2 processes");
  x.read(json::parse(R"([{"nspace": "d@2", "state": "ended"},
                         {"nspace": "d@2", "state": "lost"},
                         {"nspace": "d@2", "state": "running"}])"),
         {"d@2"});
  CAF_CHECK_EQUAL(x.text(), "ended 2 of 3 processes");
  x.read(json("nothing"), {"d@2"});
  CAF_CHECK_EQUAL(x.text(), "");
}

CAF_TEST(OPS-T5 the job that starts is known if it is the only one) {
  const auto jobs = json::parse(R"([{"nspace": "d@1", "state": "running"},
                                    {"nspace": "d@2", "state": "starting"}])");
  CAF_CHECK_EQUAL(starting_job_of(jobs), "d@2");
  auto two = jobs;
  two.push_back(jobs[1]);
  CAF_CHECK_EQUAL(starting_job_of(two), "");
  CAF_CHECK_EQUAL(starting_job_of(json::array()), "");
  CAF_CHECK_EQUAL(starting_job_of(json("x")), "");
  CAF_CHECK_EQUAL(starting_job_of(json::parse(R"([{"state": 7}, 7])")), "");
}

CAF_TEST(OPS-T5 a line is cut where the terminal ends and not within a character) {
  CAF_CHECK_EQUAL(fitted("abc", 5), "abc");
  CAF_CHECK_EQUAL(fitted("abcdef", 5), "abcde");
  CAF_CHECK_EQUAL(fitted("a\xc3\xa9z", 2), "a\xc3\xa9");
  CAF_CHECK_EQUAL(fitted("abc", 0), "");
}
