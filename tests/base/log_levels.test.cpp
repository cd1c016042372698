// Levels of a log by subject, and journals that know theirs.

#include "base/log_levels.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <string>
#include <vector>

using namespace troupe;

namespace {

struct fixture {
  std::shared_ptr<log_levels> levels = std::make_shared<log_levels>();
  std::vector<std::string> lines;
  journal log;

  fixture() {
    auto x = subject_journal{};
    x.levels = levels;
    x.out = std::make_shared<const log_output>([this](const log_line& line) {
      lines.push_back(std::string{text_of(line.about)} + " "
                      + std::string{text_of(line.how)} + " " + line.text);
    });
    log = x;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(log_levels_tests, fixture)

CAF_TEST(LOG-2 a level holds for its subject alone) {
  const auto of_events = about(log, log_subject::events);
  CAF_CHECK(!levels->set("events=debug"));
  of_events(severity::debug, "one");
  log(severity::debug, "two");
  about(of_events, log_subject::io)(severity::info, "three");
  log(severity::warning, "four");
  CAF_CHECK_EQUAL(lines.size(), 2u);
  CAF_CHECK_EQUAL(lines.front(), "events debug one");
  CAF_CHECK_EQUAL(lines.back(), "daemon warning four");
}

CAF_TEST(LOG-2 levels are set from left to right) {
  CAF_CHECK(!levels->set("events=debug,error,io=info"));
  CAF_CHECK(levels->of(log_subject::events) == severity::error);
  CAF_CHECK(levels->of(log_subject::io) == severity::info);
  CAF_CHECK(levels->of(log_subject::daemon) == severity::error);
}

CAF_TEST(LOG-2 a wrong word sets nothing and is named) {
  for (const auto* words : {"debug,event=debug", "debug,events=loud", "debug,",
                            "", "=debug", "debug,events", "events="}) {
    const auto why = levels->set(words);
    CAF_CHECK(status_of(why) == status::bad_param);
    CAF_CHECK(levels->of(log_subject::daemon) == severity::warning);
  }
  CAF_CHECK(reason_of(levels->set("event=debug")).find("\"event\"")
            != std::string::npos);
  CAF_CHECK(reason_of(levels->set("a\x1b=debug")).find('\x1b')
            == std::string::npos);
}

CAF_TEST(LOG-2 lines can be left out beside levels) {
  auto is_open = true;
  const auto some = only_if(log, [&](severity) { return is_open; });
  about(some, log_subject::nodes)(severity::error, "one");
  is_open = false;
  about(some, log_subject::nodes)(severity::error, "two");
  CAF_CHECK_EQUAL(lines.size(), 1u);
  CAF_CHECK(log_levels_of(some) == levels);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(a log of another kind stays as it is) {
  auto count = 0;
  const auto log = journal{[&](severity, const std::string&) { ++count; }};
  about(log, log_subject::events)(severity::debug, "x");
  only_if(log, [](severity x) { return x == severity::error; })(severity::info,
                                                                "x");
  CAF_CHECK_EQUAL(count, 1);
  CAF_CHECK(log_levels_of(log) == nullptr);
  CAF_CHECK(!about(journal{}, log_subject::events));
}
