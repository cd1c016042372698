// What a job control request says about logs: who hears what of it, when, and what
// channels that do not work do to it.

#include "actors/control/control_log.hpp"

#include "actors/control/control_directives.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <map>
#include <memory>
#include <optional>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  /// Channel and text of each entry, in order, and `done` in their midst.
  std::vector<std::string> log;

  /// What channels refuse.
  std::map<std::string, status> broken;

  std::optional<caf::expected<info_result>> answer;
  std::vector<info> performed;
  caf::error refusal;

  void ask(std::vector<info> directives) {
    auto out = control_log_means{};
    out.now = [] { return int64_t{1709251199}; };
    out.write = [this](const log_request& what, completion<ack> then) {
      const auto& x = what.data.at(0);
      const auto* line = x.val.text();
      log.push_back(
        x.key + ": "
        + (line != nullptr
             ? *line
             : text(infos_of(x.val), attr::log_email_msg).value_or("no text")));
      if (const auto i = broken.find(x.key); i != broken.end())
        then(make_error(i->second));
      else
        then(ack{});
    };
    out.perform = [this](job_control_request what,
                         completion<info_result> then) {
      log.emplace_back("done");
      performed = std::move(what.directives);
      if (refusal)
        then(refusal);
      else
        then(info_result{{make_info(control_key::reached, value::size(2))}});
    };
    control_and_log(
      asks({"job", 3}), {{{"other", rank_wildcard}}, std::move(directives)},
      std::move(out),
      [this](caf::expected<info_result> x) { answer.emplace(std::move(x)); });
  }

  /// Channels and statuses of the answer.
  std::string outcomes() {
    CAF_REQUIRE(answer);
    const auto infos = *answer ? (*answer)->infos : infos_of(answer->error());
    const auto* x = find(infos, control_key::log);
    CAF_REQUIRE(x != nullptr);
    auto result = std::string{};
    for (const auto& y : infos_of(*x))
      result +=
        y.key + " " + std::to_string(y.val.number<int32_t>().value_or(1)) + " ";
    return result;
  }
};

info required(info x) {
  x.flags |= info_required;
  return x;
}

const auto pause = with(attr::job_ctrl_pause, value::boolean(true));
const auto on_stderr = with(attr::log_stderr, value::string("note"));
const auto on_syslog = with(attr::log_syslog, value::string("note"));

info mail() {
  return with(
    attr::log_email,
    value::infos({with(attr::log_email_addr, value::string("a@b")),
                  with(attr::log_email_msg, value::string("hello"))}));
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(control_log_tests, fixture)

CAF_TEST(J33 only channels and addresses ask for a log) {
  CAF_CHECK(!asks_for_log({pause}));
  CAF_CHECK(!asks_for_log({pause, with(attr::log_tag_output)}));
  CAF_CHECK(asks_for_log({pause, on_stderr}));
  CAF_CHECK(asks_for_log({with(attr::log_email_addr, value::string("a@b"))}));
}

CAF_TEST(J33 who asked for what and what came of it is written with the time) {
  ask({pause, on_stderr, mail()});
  const auto line = std::string{
    "2024-02-29 23:59:59 UTC: job:3 of user 1000 has asked for job control,"
    " pause, of other:*"};
  CAF_REQUIRE_EQUAL(log.size(), 5u);
  const auto all = to_string(proc_id{"other", rank_wildcard});
  const auto subject = line.substr(0, line.rfind("other")) + all;
  CAF_CHECK_EQUAL(log[0], "pmix.log.stderr: note: " + subject + "\n");
  CAF_CHECK_EQUAL(log[1], "pmix.log.email: hello\n\n" + subject);
  CAF_CHECK_EQUAL(log[2], "done");
  CAF_CHECK_EQUAL(log[3], "pmix.log.stderr: note: " + subject
                            + ": it has been done to 2 processes\n");
  CAF_CHECK_EQUAL(log[4], "pmix.log.email: hello\n\n" + subject
                            + ": it has been done to 2 processes");
  CAF_CHECK_EQUAL(outcomes(), "pmix.log.stderr 0 pmix.log.email 0 ");
  CAF_REQUIRE_EQUAL(performed.size(), 1u);
  CAF_CHECK_EQUAL(performed[0].key, std::string{attr::job_ctrl_pause});
}

CAF_TEST(J33 an address beside or without the mail is enough) {
  ask({pause, with(attr::log_email_addr, value::string("a@b"))});
  CAF_CHECK_EQUAL(log.size(), 3u);
  CAF_CHECK_EQUAL(outcomes(), "pmix.log.email 0 ");
}

CAF_TEST(J33 a channel that does not work hinders nothing and is named) {
  broken[std::string{attr::log_syslog}] = status::not_supported;
  ask({pause, on_syslog, on_stderr});
  CAF_CHECK(*answer);
  CAF_CHECK_EQUAL(outcomes(), "pmix.log.syslog -47 pmix.log.stderr 0 ");
}

CAF_TEST(J33 a channel that is required comes before anything is done) {
  broken[std::string{attr::log_syslog}] = status::not_supported;
  ask({pause, on_stderr, required(on_syslog)});
  CAF_REQUIRE(answer);
  CAF_CHECK(!*answer);
  CAF_CHECK_EQUAL(status_of(answer->error()), status::not_supported);
  CAF_CHECK(performed.empty());
  broken.clear();
  ask({pause, required(on_syslog)});
  CAF_CHECK(*answer);
  CAF_CHECK_EQUAL(performed.size(), 1u);
}

CAF_TEST(J33 a mail without address and a value that is no text are refused) {
  ask({pause, with(attr::log_email, value::string("hello"))});
  CAF_REQUIRE(answer);
  CAF_CHECK_EQUAL(status_of(answer->error()), status::bad_param);
  CAF_CHECK(log.empty());
}

CAF_TEST(J33 a request that fails is written and fails) {
  refusal = make_error(status::not_found, "nobody is there");
  ask({pause, on_stderr});
  CAF_REQUIRE(answer);
  CAF_CHECK_EQUAL(status_of(answer->error()), status::not_found);
  CAF_CHECK_EQUAL(outcomes(), "pmix.log.stderr 0 ");
  CAF_REQUIRE_EQUAL(log.size(), 3u);
  CAF_CHECK(log[2].find("it failed: ") != std::string::npos);
  CAF_CHECK(log[2].find("nobody is there") != std::string::npos);
  CAF_CHECK_EQUAL(
    text(infos_of(answer->error()), attr::event_text_message).value_or(""),
    "nobody is there");
}

CAF_TEST_FIXTURE_SCOPE_END()
