#include "adapters/log/logger.hpp"

#include "adapters/loop/local_address.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "base/escape.hpp"
#include "base/log_levels.hpp"
#include "tests/test.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
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
  settings.format = log_format::json;
  const auto log = open_log(settings);
  log(severity::error, "a \"b\" \\ \n\x1b \xff end");
  const auto x = nlohmann::json::parse(written());
  CAF_CHECK_EQUAL(x.at("level").get<std::string>(), "error");
  CAF_CHECK_EQUAL(x.at("name").get<std::string>(), "trouped");
  CAF_CHECK_EQUAL(x.at("pid").get<int>(), getpid());
  CAF_CHECK(x.at("message").get<std::string>().find("a \"b\" \\ \n\x1b ") == 0);
}

CAF_TEST(X31 LOG-1 a long line in JSON is cut and stays valid) {
  settings.format = log_format::json;
  const auto log = open_log(settings);
  for (const auto& text :
       {std::string(100'000, 'x'), std::string(3000, '\x1b'),
        std::string(3700, '"'), std::string(3701, 'x') + "\xc3\xa4"}) {
    log(severity::error, text);
    const auto line = written();
    CAF_CHECK(line.size() <= 4096 && line.size() > 2000);
    const auto x = nlohmann::json::parse(line);
    const auto message = x.at("message").get<std::string>();
    CAF_CHECK_EQUAL(message.substr(0, 400), text.substr(0, 400));
    CAF_CHECK(message == text
              || message.substr(message.size() - 6) == " [cut]");
  }
}

CAF_TEST(X31 a line in JSON cannot command a terminal) {
  settings.format = log_format::json;
  open_log(settings)(severity::error, "\xc2\x9b"
                                      "2J \x7f \xc3\xa4");
  const auto line = written();
  for (const auto c : line.substr(0, line.size() - 1))
    CAF_CHECK(c >= ' ' && c < '\x7f');
  CAF_CHECK_EQUAL(nlohmann::json::parse(line).at("message").get<std::string>(),
                  "\xc2\x9b"
                  "2J \x7f \xc3\xa4");
}

CAF_TEST(LOG-1 a line in JSON names its subject and what it follows) {
  settings.format = log_format::json;
  const auto log = open_log(settings);
  about(log, log_subject::networks)(severity::error, "x");
  const auto x = nlohmann::json::parse(written());
  CAF_CHECK_EQUAL(x.at("subject").get<std::string>(), "networks");
  CAF_CHECK(!x.contains("trace"));
  const auto* all = log.target<subject_journal>();
  CAF_REQUIRE(all != nullptr);
  (*all->out)({severity::debug, log_subject::events, "y", "event:\"#1@0"});
  const auto y = nlohmann::json::parse(written());
  CAF_CHECK_EQUAL(y.at("trace").get<std::string>(), "event:\"#1@0");
  CAF_CHECK_EQUAL(y.at("message").get<std::string>(), "y");
}

CAF_TEST(LOG-2 levels can be set while the log is open) {
  const auto log = open_log(settings);
  const auto levels = log_levels_of(log);
  CAF_REQUIRE(levels != nullptr);
  CAF_CHECK(!levels->set("io=debug"));
  about(log, log_subject::io)(severity::debug, "one");
  log(severity::debug, "two");
  CAF_CHECK_EQUAL(written(), prefix() + "debug: one\n");
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

namespace {

/// A socket that stands for the journal, in a folder of its own.
struct listening_journal {
  std::string folder = "/tmp/troupe-journal.XXXXXX";
  std::string path;
  unique_fd fd;

  listening_journal() {
    CAF_REQUIRE(mkdtemp(folder.data()) != nullptr);
    path = folder + "/socket";
    fd.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto address = local_address(path);
    CAF_REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address),
                       sizeof(*address))
                == 0);
  }

  ~listening_journal() {
    std::filesystem::remove_all(folder);
  }

  std::string next() const {
    char buffer[16384];
    const auto n = ::recv(fd.get(), buffer, sizeof(buffer), 0);
    return n > 0 ? std::string{buffer, static_cast<size_t>(n)} : std::string{};
  }
};

} // namespace

CAF_TEST(LOG-1 X31 an entry of the journal has a field a line) {
  const auto to = listening_journal{};
  settings.format = log_format::journald;
  settings.journal = to.path;
  const auto log = open_log(settings);
  about(log, log_subject::jobs)(severity::error, "a\nPRIORITY=0\n\x1b");
  const auto* all = log.target<subject_journal>();
  CAF_REQUIRE(all != nullptr);
  (*all->out)({severity::debug, log_subject::events, "y", "event:job#1@0"});
  const auto begin = "SYSLOG_IDENTIFIER=trouped\nSYSLOG_PID="
                     + std::to_string(getpid()) + "\nTROUPE_SUBJECT=";
  CAF_CHECK_EQUAL(to.next(), "MESSAGE=a\\nPRIORITY=0\\n\\x1b\nPRIORITY=3\n"
                               + begin + "jobs\n");
  CAF_CHECK_EQUAL(to.next(), "MESSAGE=y\nPRIORITY=7\n" + begin
                               + "events\nTROUPE_TRACE=event:job#1@0\n");
  CAF_CHECK_EQUAL(written(), "");
}

CAF_TEST(LOG-1 a journal that takes nothing costs lines and tells how many) {
  const auto to = listening_journal{};
  settings.format = log_format::journald;
  settings.journal = to.path;
  const auto log = open_log(settings);
  constexpr int count = 5000;
  for (int i = 0; i < count; ++i)
    log(severity::error, "line" + std::string(5000, '.'));
  auto taken = 0;
  while (!to.next().empty())
    ++taken;
  CAF_CHECK(taken > 0 && taken < count);
  log(severity::error, "again");
  CAF_CHECK(to.next().find(std::to_string(count - taken) + " lines")
            != std::string::npos);
  CAF_CHECK_EQUAL(to.next().find("MESSAGE=again\n"), 0u);
}

CAF_TEST(LOG-1 without a journal the log goes where it went) {
  settings.format = log_format::journald;
  settings.journal = "/nonexistent/journal";
  open_log(settings)(severity::error, "x");
  CAF_CHECK_EQUAL(written(), prefix()
                               + "warning: there is no journal at "
                                 "/nonexistent/journal: the log goes to "
                                 "standard error\n"
                               + prefix() + "error: x\n");
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
