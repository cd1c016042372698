// What --forward-signals says, and what a launcher makes of lost output.

#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/output_options.hpp"
#include "tools/signals.hpp"

#include <csignal>

using namespace troupe;

namespace {

using numbers = std::set<int>;

numbers with_usual(numbers more) {
  const auto& usual = usual_signals();
  more.insert(usual.begin(), usual.end());
  return more;
}

numbers signals_of(const std::string& text) {
  auto result = read_forwarded_signals(text);
  if (!result)
    CAF_FAIL(text << ": " << reason_of(result.error()));
  return std::move(*result);
}

/// The reason of the refusal.
std::string refusal_of(const std::string& text) {
  const auto result = read_forwarded_signals(text);
  if (result)
    return "none";
  CAF_CHECK_EQUAL(status_of(result.error()), status::bad_param);
  return reason_of(result.error());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST(SIG-2 names and numbers are passed on beside the usual signals) {
  CAF_CHECK_EQUAL(signals_of("HUP"), with_usual({SIGHUP}));
  CAF_CHECK_EQUAL(signals_of("sighup,SIGURG"), with_usual({SIGHUP, SIGURG}));
  CAF_CHECK_EQUAL(signals_of("1,QUIT"), with_usual({SIGHUP, SIGQUIT}));
  CAF_CHECK_EQUAL(signals_of("RTMIN+2"), with_usual({SIGRTMIN + 2}));
  CAF_CHECK_EQUAL(signals_of("USR1"), usual_signals());
}

CAF_TEST(SIG-2 all and none stand for themselves) {
  CAF_CHECK(signals_of("none").empty());
  const auto all = signals_of("all");
  for (const auto number : with_usual({SIGHUP, SIGQUIT, SIGURG, SIGRTMAX}))
    CAF_CHECK_EQUAL(all.count(number), 1u);
  for (const auto number :
       {SIGKILL, SIGSTOP, SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGSEGV})
    CAF_CHECK_EQUAL(all.count(number), 0u);
}

CAF_TEST(SIG-2 what cannot be passed on is refused with the option) {
  for (const auto* text : {"KILL", "9", "STOP", "INT", "TERM", "CHLD", "0",
                           "PIPE", "32", "HUP,", "", "nonsense", "65", "-1"}) {
    const auto why = refusal_of(text);
    CAF_CHECK(has(why, "--forward-signals " + std::string{text} + ": "));
  }
  CAF_CHECK(has(refusal_of("HUP,none"), "stands alone"));
  CAF_CHECK(has(refusal_of("nonsense"), "no signal"));
  CAF_CHECK(has(refusal_of("KILL"), "troupe ctl kill"));
}

CAF_TEST(SIG-6 output that nobody reads ends the job unless files have it) {
  auto to_file = output_options{};
  to_file.file = "/tmp/x";
  auto to_directory = output_options{};
  to_directory.directory = "/tmp";
  CAF_CHECK(is_unread(EPIPE, {}));
  CAF_CHECK(!is_unread(ENOSPC, {}));
  CAF_CHECK(!is_unread(0, {}));
  CAF_CHECK(!is_unread(EPIPE, to_file));
  CAF_CHECK(!is_unread(EPIPE, to_directory));
  CAF_CHECK_EQUAL(status_of_output(EPIPE, 0, {}), 141);
  CAF_CHECK_EQUAL(status_of_output(EPIPE, 0, to_file), 74);
}

CAF_TEST(SIG-7 output that cannot be written makes 0 a 74) {
  CAF_CHECK_EQUAL(status_of_output(0, 0, {}), 0);
  CAF_CHECK_EQUAL(status_of_output(0, 3, {}), 3);
  CAF_CHECK_EQUAL(status_of_output(ENOSPC, 0, {}), 74);
  CAF_CHECK_EQUAL(status_of_output(ENOSPC, 3, {}), 3);
  CAF_CHECK_EQUAL(status_of_output(EPIPE, 137, {}), 137);
}

CAF_TEST(MND-S4 a file that cannot be written makes 0 a 74) {
  auto to_file = output_options{};
  to_file.file = "/tmp/x";
  CAF_CHECK_EQUAL(status_of_output(0, 0, to_file, true), 74);
  CAF_CHECK_EQUAL(status_of_output(ENOSPC, 0, to_file, true), 74);
  CAF_CHECK_EQUAL(status_of_output(EPIPE, 0, {}, true), 141);
  CAF_CHECK_EQUAL(status_of_output(0, 3, to_file, true), 3);
}
