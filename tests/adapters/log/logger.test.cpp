#include "adapters/log/logger.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "base/escape.hpp"
#include "tests/test.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace troupe;

namespace {

struct fixture {
  unique_fd reader;
  unique_fd writer;
  logger_settings settings;

  fixture() {
    int fds[2];
    CAF_REQUIRE_EQUAL(pipe2(fds, O_CLOEXEC), 0);
    reader.reset(fds[0]);
    writer.reset(fds[1]);
    fcntl(reader.get(), F_SETFL, O_NONBLOCK);
    settings.fd = writer.get();
    settings.name = "trouped";
  }

  std::string written() const {
    std::string result;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(reader.get(), buffer, sizeof(buffer))) > 0;)
      result.append(buffer, static_cast<size_t>(n));
    return result;
  }

  std::string prefix() const {
    return "trouped[" + std::to_string(getpid()) + "] ";
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(logger_tests, fixture)

CAF_TEST(a line says who and how bad) {
  const auto log = open_log(settings);
  log(severity::warning, "something 100% odd {}");
  log(severity::error, "bad");
  CAF_CHECK_EQUAL(written(), prefix() + "warning: something 100% odd {}\n"
                               + prefix() + "error: bad\n");
}

CAF_TEST(what matters less is left out) {
  const auto log = open_log(settings);
  log(severity::info, "x");
  log(severity::debug, "x");
  CAF_CHECK_EQUAL(written(), "");
  settings.level = severity::debug;
  open_log(settings)(severity::debug, "x");
  CAF_CHECK_EQUAL(written(), prefix() + "debug: x\n");
}

CAF_TEST(X31 control characters in a log line are escaped) {
  const auto log = open_log(settings);
  log(severity::error, "job \x1b[2J\r\n1\x7f \xc2\x9b \xff \xc3\xa4\tx");
  CAF_CHECK_EQUAL(written(), prefix()
                               + "error: job \\x1b[2J\\x0d\\n1\\x7f \\xc2\\x9b "
                                 "\\xff \xc3\xa4\tx\n");
}

CAF_TEST(X31 a log line in JSON is valid whatever it quotes) {
  settings.json = true;
  const auto log = open_log(settings);
  log(severity::error, "a \"b\" \\ \n\x1b \xff end");
  const auto x = nlohmann::json::parse(written());
  CAF_CHECK_EQUAL(x.at("level").get<std::string>(), "error");
  CAF_CHECK_EQUAL(x.at("name").get<std::string>(), "trouped");
  CAF_CHECK_EQUAL(x.at("pid").get<int>(), getpid());
  CAF_CHECK(x.at("message").get<std::string>().find("a \"b\" \\ \n\x1b ") == 0);
}

CAF_TEST(a reader that has stopped costs lines and not the daemon) {
  const auto log = open_log(settings);
  constexpr int count = 5000;
  for (int i = 0; i < count; ++i)
    log(severity::error, "line " + std::to_string(i) + std::string(90, '.'));
  const auto first = written();
  const auto kept = std::count(first.begin(), first.end(), '\n');
  CAF_CHECK(kept > 0 && kept < count);
  log(severity::error, "again");
  CAF_CHECK_EQUAL(written(), "(" + std::to_string(count - kept)
                               + " lines of the log were dropped: nobody took "
                                 "them)\n"
                               + prefix() + "error: again\n");
  CAF_CHECK_EQUAL(fcntl(writer.get(), F_GETFL) & O_NONBLOCK, 0);
}

CAF_TEST(an endless line is cut) {
  open_log(settings)(severity::error, std::string(100'000, 'x'));
  const auto text = written();
  CAF_CHECK_EQUAL(text.size(), 4096u);
  CAF_CHECK_EQUAL(text.substr(4089), " [cut]\n");
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(characters of UTF-8 are told from other bytes) {
  CAF_CHECK_EQUAL(utf8_length("a"), 1u);
  CAF_CHECK_EQUAL(utf8_length("\xc3\xa4..."), 2u);
  CAF_CHECK_EQUAL(utf8_length("\xe2\x82\xac"), 3u);
  CAF_CHECK_EQUAL(utf8_length("\xf0\x9f\x98\x80"), 4u);
  for (const auto* bad :
       {"", "\x80", "\xc3", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xe2\x28\xa1", "\xff"})
    CAF_CHECK_EQUAL(utf8_length(bad), 0u);
}

CAF_TEST(lines can be kept when text is escaped) {
  CAF_CHECK_EQUAL(escape_control_characters("a\nb\r\n", true), "a\nb\\x0d\n");
  CAF_CHECK_EQUAL(escape_control_characters("a\nb"), "a\\nb");
}
