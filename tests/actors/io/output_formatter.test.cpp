// How the output of processes is shown, as text in and text out.

#include "actors/io/output_formatter.hpp"

#include "tests/test.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <random>
#include <sstream>

using namespace troupe;

namespace {

constexpr auto out = io_channels::stdout_;
constexpr auto err = io_channels::stderr_;

/// Formats and gathers what would be written.
struct display {
  output_formatter formatter;
  std::string text;

  explicit display(bool label, bool timestamp, bool json)
    : formatter({label, timestamp, json}, [] { return "NOW"; }) {
    // nop
  }

  display& add(const proc_id& proc, const std::string& bytes,
               io_channels channel = out) {
    text += formatter.format({proc, channel, bytes});
    return *this;
  }

  display& end(const proc_id& proc, io_channels channel = out) {
    return add(proc, {}, channel);
  }
};

const proc_id first{"job-1", 0};
const proc_id second{"job-1", 1};
const proc_id foreign{"job-2", 0};

display raw() {
  return display{false, false, false};
}

display labelled() {
  return display{true, false, false};
}

display as_json() {
  return display{false, false, true};
}

/// Puts the `data` of JSON lines together again.
std::string joined(const std::string& text) {
  std::istringstream in{text};
  std::string result;
  for (std::string line; std::getline(in, line);)
    result += nlohmann::json::parse(line).at("data").get<std::string>();
  return result;
}

} // namespace

CAF_TEST(F5 raw output is not touched) {
  const auto bytes = std::string{"no newline \x1b[31m\0\xff", 19};
  auto uut = raw();
  uut.add(first, bytes).add(second, "x").end(first);
  CAF_CHECK_EQUAL(uut.text, bytes + 'x');
}

CAF_TEST(F5.8 each line gets the rank of its process) {
  auto uut = labelled();
  uut.add(first, "one\ntwo\n").add(second, "three\n");
  CAF_CHECK_EQUAL(uut.text, "0: one\n0: two\n1: three\n");
}

CAF_TEST(lines of different processes and streams never mix) {
  auto uut = labelled();
  uut.add(first, "be").add(second, "other ").add(first, "error ", err);
  uut.add(first, "gin\nne").add(second, "line\n").add(first, "line\n", err);
  uut.add(first, "xt\n");
  CAF_CHECK_EQUAL(uut.text,
                  "0: begin\n1: other line\n0: error line\n0: next\n");
}

CAF_TEST(F6 an unterminated last line is shown with a newline at the end) {
  auto uut = labelled();
  uut.add(first, "x");
  CAF_CHECK_EQUAL(uut.text, "");
  uut.end(first).end(first);
  CAF_CHECK_EQUAL(uut.text, "0: x\n");
}

CAF_TEST(empty lines are lines) {
  auto uut = labelled();
  CAF_CHECK_EQUAL(uut.add(first, "\n\nx\n").text, "0: \n0: \n0: x\n");
}

CAF_TEST(processes of other jobs are shown with their job) {
  auto uut = labelled();
  uut.add(first, "a\n").add(foreign, "b\n").add(second, "c\n");
  CAF_CHECK_EQUAL(uut.text, "0: a\njob-2/0: b\n1: c\n");
}

CAF_TEST(X31 a namespace cannot smuggle control characters into a label) {
  auto uut = labelled();
  uut.add(first, "a\n").add({"\x1b[2J\n", 0}, "b\n");
  CAF_CHECK_EQUAL(uut.text, "0: a\n\\x1b[2J\\n/0: b\n");
}

CAF_TEST(the time stands in front) {
  auto uut = display{true, true, false};
  CAF_CHECK_EQUAL(uut.add(first, "a\n").text, "NOW 0: a\n");
  auto alone = display{false, true, false};
  CAF_CHECK_EQUAL(alone.add(first, "a\nb").end(first).text, "NOW a\nNOW b\n");
}

CAF_TEST(the local time has a date and a zone) {
  const auto text = local_time();
  CAF_CHECK_EQUAL(text.size(),
                  std::string{"2025-11-20T16:43:59.123+01:00"}.size());
  CAF_CHECK_EQUAL(text[10], 'T');
  CAF_CHECK_EQUAL(text[text.size() - 3], ':');
}

CAF_TEST(JSON lines say where the output comes from) {
  auto uut = as_json();
  uut.add(first, "a \"quoted\" line\n").add(foreign, "x\n", err);
  CAF_CHECK_EQUAL(uut.text, R"({"type":"output","nspace":"job-1","rank":0,)"
                            R"("stream":"stdout","data":"a \"quoted\" line\n"})"
                            "\n"
                            R"({"type":"output","nspace":"job-2","rank":0,)"
                            R"("stream":"stderr","data":"x\n"})"
                            "\n");
  CAF_CHECK(!uut.formatter.on_stderr(err));
  CAF_CHECK(labelled().formatter.on_stderr(err));
  CAF_CHECK(!labelled().formatter.on_stderr(out));
}

CAF_TEST(JSON lines carry the time if asked for) {
  auto uut = display{false, true, true};
  const auto x = nlohmann::json::parse(uut.add(first, "a\n").text);
  CAF_CHECK_EQUAL(x.at("time").get<std::string>(), "NOW");
}

CAF_TEST(X31 JSON stays valid whatever a program writes) {
  auto uut = as_json();
  uut.add(first, std::string{"\0\x1f\x7f\x1b[2J \xc3\xa4\n", 11});
  const auto x = nlohmann::json::parse(uut.text);
  CAF_CHECK(x.at("data").get<std::string>()
            == (std::string{"\0\x1f\x7f\x1b[2J \xc3\xa4\n", 11}));
}

CAF_TEST(X31 bytes that are no text come as base64) {
  const std::pair<std::string, std::string> cases[] = {
    {"\xff\n", "/wo="},
    {"\xc3\n", "wwo="},             // A character that is cut off.
    {"\xed\xa0\x80\n", "7aCACg=="}, // A surrogate.
    {"\xc0\xaf", "wK8="},           // An overlong slash.
    {"\xff", "/w=="},
  };
  for (const auto& [bytes, encoded] : cases) {
    const auto text = as_json().add(first, bytes).end(first).text;
    const auto x = nlohmann::json::parse(text);
    CAF_CHECK_EQUAL(x.at("data_base64").get<std::string>(), encoded);
    CAF_CHECK_EQUAL(x.count("data"), 0u);
  }
}

CAF_TEST(the parts of a JSON stream add up to the stream) {
  std::mt19937 random{7};
  for (int round = 0; round < 50; ++round) {
    auto uut = as_json();
    std::string all;
    for (int i = 0; i < 40; ++i) {
      std::string bytes(1 + random() % 9000, ' ');
      for (auto& c : bytes)
        c = random() % 50 == 0 ? '\n' : static_cast<char>('a' + random() % 26);
      all += bytes;
      uut.add(first, bytes);
    }
    CAF_REQUIRE(joined(uut.end(first).text) == all);
  }
}

CAF_TEST(a long line is passed on in pieces that are lines) {
  const auto size = output_formatter::max_line;
  auto uut = labelled();
  uut.add(first, std::string(size, 'a'));
  CAF_CHECK_EQUAL(uut.text, ""); // It may end here.
  uut.add(first, "b");
  CAF_CHECK(uut.text == "0: " + std::string(size, 'a') + '\n');
  uut.add(first, "c\n");
  CAF_CHECK(uut.text == "0: " + std::string(size, 'a') + "\n0: bc\n");
  auto exact = labelled();
  exact.add(first, std::string(size, 'a')).add(first, "\n");
  CAF_CHECK(exact.text == "0: " + std::string(size, 'a') + '\n');
}

CAF_TEST(pieces of a long line do not cut characters in two) {
  auto uut = as_json();
  std::string all = "x";
  for (size_t i = 0; i < output_formatter::max_line; ++i)
    all += "\xc3\xa4";
  for (size_t i = 0; i < all.size(); i += 60001)
    uut.add(first, all.substr(i, 60001));
  uut.end(first);
  CAF_CHECK(uut.text.find("base64") == std::string::npos);
  CAF_CHECK(joined(uut.text) == all);
}

CAF_TEST(X24 an endless line costs what as many lines cost) {
  using clock = std::chrono::steady_clock;
  const auto cost_of = [](const std::string& fragment) {
    auto uut = labelled();
    const auto begin = clock::now();
    for (size_t size = 0; size < 10'000'000; size += fragment.size()) {
      uut.text.clear();
      uut.add(first, fragment);
    }
    return clock::now() - begin;
  };
  auto lines = std::string(1000, 'x');
  lines.back() = '\n';
  const auto line = cost_of(std::string(1000, 'x'));
  CAF_CHECK(line < cost_of(lines) * 5 + std::chrono::milliseconds{50});
}
