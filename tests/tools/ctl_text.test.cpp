// What `troupe ctl` shows of an answer.

#include "actors/control/control_directives.hpp"
#include "messages/attributes.hpp"
#include "tests/test.hpp"
#include "tools/ctl.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

info with(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

const auto partly = control_answer{
  status::partial_success,
  {with(attr::event_text_message, value::string("2 of 4 do not run")),
   with(control_key::reached, value::size(2)),
   with(control_key::absent, value::procs({{"job", 1}, {"job", 3}}))}};

} // namespace

CAF_TEST(J25 an exit status tells done and partly and late and refused apart) {
  CAF_CHECK_EQUAL(exit_status_of({status::success, {}}), 0);
  CAF_CHECK_EQUAL(exit_status_of({status::no_permissions, {}}), 1);
  CAF_CHECK_EQUAL(exit_status_of(partly), 3);
  CAF_CHECK_EQUAL(exit_status_of({status::timeout, {}}), 124);
}

CAF_TEST(J4 a refusal is one line with the reason and the processes) {
  CAF_CHECK_EQUAL(complaint_of(partly),
                  "2 of 4 do not run; not running: job:1, job:3");
  CAF_CHECK_EQUAL(complaint_of({status::not_supported, {}}),
                  "refused: PMIX_ERR_NOT_SUPPORTED");
  auto many = std::vector<proc_id>{};
  for (uint32_t rank = 0; rank < 20; ++rank)
    many.push_back({"job", rank});
  const auto line = complaint_of(
    {status::timeout, {with(control_key::missing, value::procs(many))}});
  CAF_CHECK(line.find("job:7 and 12 more") != std::string::npos);
  const auto evil = complaint_of(
    {status::error,
     {with(attr::event_text_message, value::string("a\x1b]0;b\x07\nc"))}});
  CAF_CHECK(evil.find_first_of("\x1b\x07\n") == std::string::npos);
}

CAF_TEST(J4 the answer as JSON has names that people know) {
  const auto x = to_json(partly);
  CAF_CHECK_EQUAL(x["status"], "PMIX_ERR_PARTIAL_SUCCESS");
  CAF_CHECK_EQUAL(x["reached"], 2);
  CAF_CHECK_EQUAL(x["absent"][1], "job:3");
  CAF_CHECK_EQUAL(x["reason"], "2 of 4 do not run");
}

CAF_TEST(J20 requests are shown as a table and as JSON) {
  const auto request =
    value::infos({with(attr::job_ctrl_id, value::string("mine")),
                  with("requestor", value::of_proc({"tool", 0})),
                  with("what", value::string("pause")),
                  with("state", value::string("running")),
                  with("status", value::of_status(static_cast<int32_t>(
                                   status::operation_in_progress)))});
  const auto x = read_requests(value::infos({with("item", request)}));
  CAF_REQUIRE_EQUAL(x.size(), 1u);
  CAF_CHECK_EQUAL(x[0]["id"], "mine");
  CAF_CHECK_EQUAL(x[0]["requestor"], "tool:0");
  CAF_CHECK_EQUAL(
    requests_to_text(x),
    "ID    REQUESTOR  WHAT   STATE    STATUS                      "
    "REASON\n"
    "mine  tool:0     pause  running  PMIX_OPERATION_IN_PROGRESS  "
    "-\n");
  CAF_CHECK(read_requests(value::string("no list")).empty());
}
