// The command line of `troupe ctl`.

#include "actors/control/control_directives.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/ctl.hpp"
#include "tools/signals.hpp"

#include <csignal>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

ctl_request order(std::vector<std::string> args) {
  auto x = parse_ctl_options(std::move(args));
  auto* result = std::get_if<ctl_order>(&x);
  if (result == nullptr || !std::holds_alternative<ctl_request>(*result))
    CAF_FAIL("not what was asked for");
  return std::move(std::get<ctl_request>(*result));
}

int refused(std::vector<std::string> args) {
  auto x = parse_ctl_options(std::move(args));
  const auto* result = std::get_if<int>(&x);
  return result != nullptr ? *result : -1;
}

/// What the server understands of the request.
control_directives directives_of(const ctl_request& x) {
  auto result = read_directives(x.what.directives);
  if (!result)
    CAF_FAIL("refused: " << reason_of(result.error()));
  return std::move(*result);
}

std::vector<proc_id> targets_of(const std::string& text) {
  auto result = read_targets(text);
  return result ? std::move(*result) : std::vector<proc_id>{};
}

/// -1 if it is refused.
int32_t signal_of(const std::string& text) {
  auto result = read_signal(text);
  return result ? *result : -1;
}

const auto whole_job = std::vector<proc_id>{{"job@1", rank_wildcard}};

} // namespace

CAF_TEST(J3 targets are jobs or lists of ranks in them) {
  CAF_CHECK(targets_of("job@1") == whole_job);
  CAF_CHECK(targets_of("job@1:*") == whole_job);
  CAF_CHECK(
    (targets_of("a:b:0,4-6")
     == std::vector<proc_id>{{"a:b", 0}, {"a:b", 4}, {"a:b", 5}, {"a:b", 6}}));
  for (const auto* x : {"", ":", ":3", "job:", "job:x", "job:-1", "job:4-2",
                        "job:1,", "job:1-", "job:4294967295", "job:0-65536"})
    CAF_CHECK(targets_of(x).empty());
}

CAF_TEST(J15 signals have names and numbers) {
  for (const auto* x : {"USR1", "SIGUSR1", "sigusr1", "10"})
    CAF_CHECK_EQUAL(signal_of(x), SIGUSR1);
  CAF_CHECK_EQUAL(signal_of("0"), 0);
  CAF_CHECK_EQUAL(signal_of("RTMIN+2"), SIGRTMIN + 2);
  CAF_CHECK_EQUAL(signal_of("RTMIN"), SIGRTMIN);
  for (const auto* x : {"", "NONE", "65", "-1", "RTMIN+99", "RTMIN-1", "SIG"})
    CAF_CHECK_EQUAL(signal_of(x), -1);
}

CAF_TEST(J15 a signal goes to the ranks that are named) {
  const auto x = order({"signal", "USR1", "job@1:1", "--dvm", "d"});
  CAF_CHECK_EQUAL(x.dvm, "d");
  CAF_CHECK((x.what.targets == std::vector<proc_id>{{"job@1", 1}}));
  CAF_CHECK(directives_of(x).signal == SIGUSR1);
}

CAF_TEST(J6 J7 J9 J35 words without a value are directives) {
  CAF_CHECK(directives_of(order({"pause", "job@1"})).pause);
  CAF_CHECK(directives_of(order({"resume", "job@1"})).resume);
  CAF_CHECK(directives_of(order({"kill", "job@1"})).kill);
  const auto x = directives_of(order({"term", "job@1", "--grace", "2.5"}));
  CAF_CHECK(x.terminate);
  CAF_CHECK(x.grace == 2500ms);
}

CAF_TEST(J11 J12 J13 J14 a checkpoint has a name and perhaps a method) {
  const auto plain = directives_of(order({"checkpoint", "one", "job@1"}));
  CAF_CHECK(plain.checkpoint == "one");
  CAF_CHECK(plain.checkpoint_by.empty());
  const auto full =
    directives_of(order({"checkpoint", "one", "job@1", "--signal", "USR2",
                         "--event", "JCTRL_CHECKPOINT", "--wait", "9"}));
  CAF_CHECK_EQUAL(full.checkpoint_by.size(), 2u);
  CAF_CHECK(full.checkpoint_timeout == 9s);
}

CAF_TEST(J33 a mail is required if it is asked for) {
  const auto x = order({"pause", "job@1", "--mail", "a@b,c@d"});
  const auto& last = x.what.directives.back();
  CAF_CHECK_EQUAL(last.key, std::string{attr::log_email_addr});
  CAF_CHECK_EQUAL(last.flags, info_required);
  CAF_CHECK(*last.val.text() == "a@b,c@d");
  CAF_CHECK(*x.limit > *order({"pause", "job@1"}).limit);
}

CAF_TEST(J10 a restart needs no targets) {
  const auto x = order({"restart", "one"});
  CAF_CHECK(directives_of(x).restart == "one");
  CAF_CHECK(x.what.targets.empty());
  CAF_CHECK(!x.limit);
}

CAF_TEST(RST-2 a restart may be in place) {
  const auto fresh = order({"restart", "-", "job@1:1", "--in-place"});
  CAF_CHECK(directives_of(fresh).in_place);
  CAF_CHECK(!directives_of(fresh).restart);
  CAF_CHECK_EQUAL(fresh.what.targets.size(), 1u);
  const auto saved =
    directives_of(order({"restart", "one", "job@1", "--in-place"}));
  CAF_CHECK(saved.in_place);
  CAF_CHECK(saved.restart == "one");
}

CAF_TEST(J18 J28 a preemption says what follows) {
  const auto x = directives_of(order({"preempt", "job@1", "--grace", "3"}));
  CAF_CHECK(x.preempt == "terminate");
  CAF_CHECK(x.grace == 3s);
  const auto saved = directives_of(
    order({"preempt", "job@1", "--then", "checkpoint", "--checkpoint", "one"}));
  CAF_CHECK(saved.preempt == "checkpoint");
  CAF_CHECK(saved.checkpoint == "one");
  CAF_CHECK_EQUAL(refused({"preempt", "job@1", "--then", "checkpoint"}), 2);
  CAF_CHECK_EQUAL(refused({"preempt", "job@1", "--checkpoint", "one"}), 2);
  CAF_CHECK_EQUAL(refused({"preempt", "job@1", "--then", "nothing"}), 2);
}

CAF_TEST(J5 J8 J21 requests have names and are cancelled by them or all) {
  const auto x = directives_of(order({"pause", "job@1", "--id", "mine"}));
  CAF_CHECK(x.id == "mine");
  const auto one = directives_of(order({"cancel", "mine"}));
  CAF_REQUIRE(one.cancel.has_value());
  CAF_CHECK(one.cancel->id == "mine");
  const auto all = order({"cancel"});
  CAF_REQUIRE(directives_of(all).cancel.has_value());
  CAF_CHECK(!directives_of(all).cancel->id);
  CAF_CHECK(flag(all.what.directives, control_key::user));
}

CAF_TEST(J20 status is of one request or of all) {
  auto x = parse_ctl_options({"status", "mine", "--json"});
  auto* some = std::get_if<ctl_order>(&x);
  CAF_REQUIRE(some != nullptr);
  const auto& status = std::get<ctl_status_request>(*some);
  CAF_CHECK(status.id == "mine");
  CAF_CHECK(status.json);
}

CAF_TEST(J25 a time limit goes to the server and bounds the wait) {
  const auto x = order({"checkpoint", "one", "job@1", "--timeout", "7"});
  CAF_CHECK(directives_of(x).timeout == 7s);
  CAF_CHECK(x.limit == 12s);
  CAF_CHECK(!order({"checkpoint", "one", "job@1"}).limit);
  CAF_CHECK(order({"kill", "job@1"}).limit.has_value());
}

CAF_TEST(mistakes in the command line are refused with status 2) {
  CAF_CHECK_EQUAL(refused({}), 2);
  CAF_CHECK_EQUAL(refused({"explode", "job@1"}), 2);
  CAF_CHECK_EQUAL(refused({"kill"}), 2);
  CAF_CHECK_EQUAL(refused({"signal", "job@1"}), 2);
  CAF_CHECK_EQUAL(refused({"signal", "NONE", "job@1"}), 2);
  CAF_CHECK_EQUAL(refused({"checkpoint", "one"}), 2);
  CAF_CHECK_EQUAL(refused({"--help"}), 0);
}
