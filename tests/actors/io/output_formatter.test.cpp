// How the output of processes is shown, as text in and text out.

#include "actors/io/output_formatter.hpp"

#include "actors/io/output_text.hpp"
#include "tests/test.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <map>
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
  std::map<std::pair<proc_id, io_channels>, uint64_t> offsets = {};

  /// How often the host of a process was asked for.
  size_t lookups = 0;

  explicit display(const output_format& format)
    : formatter(
      format, [](int64_t at) { return at == 0 ? "NOW" : time_of(at); },
      [this](const proc_id& x) {
        ++lookups;
        return x.rank > 9 ? "" : "node" + std::to_string(x.rank);
      }) {
    // nop
  }

  explicit display(bool label, bool timestamp, bool json)
    : display(make_format(label, timestamp, json)) {
    // nop
  }

  static output_format make_format(bool label, bool timestamp, bool json) {
    output_format result;
    result.label = label;
    result.timestamp = timestamp;
    result.json = json;
    result.iso_time = true;
    return result;
  }

  /// Second 7 of an hour, say, as `2025-11-06T16:43:07.000+01:00`.
  static std::string time_of(int64_t at) {
    const auto seconds = std::to_string(at / 1'000'000'000 % 60);
    return "2025-11-06T16:43:" + std::string(2 - seconds.size(), '0') + seconds
           + ".000+01:00";
  }

  static uint32_t pid_of(const proc_id& x) {
    return x.rank > 9 ? 0 : 100 + x.rank;
  }

  display& add(const proc_id& proc, const std::string& bytes,
               io_channels channel = out, int64_t second = 0) {
    auto& offset = offsets[{proc, channel}];
    io_fragment x{{proc, channel},        offset,      bytes, 0, false,
                  second * 1'000'000'000, pid_of(proc)};
    offset += bytes.size();
    text += formatter.format(std::move(x));
    return *this;
  }

  display& miss(const proc_id& proc, uint64_t missed, const std::string& bytes,
                io_channels channel = out) {
    auto& offset = offsets[{proc, channel}];
    offset += missed;
    io_fragment x{{proc, channel}, offset, bytes, missed, false, 0};
    offset += bytes.size();
    text += formatter.format(std::move(x));
    return *this;
  }

  display& end(const proc_id& proc, io_channels channel = out) {
    io_fragment x{{proc, channel}, offsets[{proc, channel}], {}, 0, true, 0,
                  pid_of(proc)};
    text += formatter.format(std::move(x));
    return *this;
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

CAF_TEST(JSON is escaped as elsewhere) {
  for (int c = 0; c < 0x80; ++c) {
    const auto text = std::string{"a"} + static_cast<char>(c) + "\xc3\xa4";
    std::string result;
    append_json(result, text);
    CAF_CHECK_EQUAL(result, to_json_string(text));
  }
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
  // Processor time: others may keep the machine busy.
  const auto cost_of = [](const std::string& fragment) {
    auto uut = labelled();
    const auto begin = std::clock();
    for (size_t size = 0; size < 10'000'000; size += fragment.size()) {
      uut.text.clear();
      uut.add(first, fragment);
    }
    return std::clock() - begin;
  };
  auto lines = std::string(1000, 'x');
  lines.back() = '\n';
  const auto line = cost_of(std::string(1000, 'x'));
  CAF_CHECK(line < cost_of(lines) * 5 + CLOCKS_PER_SEC / 20);
}

// -- the marks of OpenPMIx 6
// -----------------------------------------------------------

namespace {

const proc_id remote{"prterun-head-17@2", 3};

/// @param set Sets what is asked for.
template <class Function>
display with(Function set) {
  output_format format;
  set(format);
  return display{format};
}

} // namespace

CAF_TEST(I16 lines are tagged with the job and the rank and the stream) {
  auto uut = with([](auto& x) { x.tag = true; });
  uut.add(remote, "a\nb\n").add(first, "c\n", err);
  uut.add(first, "d\n", io_channels::stddiag);
  CAF_CHECK_EQUAL(uut.text, "[2,3]<stdout>: a\n"
                            "[2,3]<stdout>: b\n"
                            "[job-1,0]<stderr>: c\n"
                            "[job-1,0]<stddiag>: d\n");
}

CAF_TEST(I16 tags with the full name and with host and process number) {
  auto full = with([](auto& x) { x.tag_fullname = true; });
  CAF_CHECK_EQUAL(full.add(remote, "a\n").text,
                  "[prterun-head-17@2,3]<stdout>: a\n");
  auto detailed = with([](auto& x) { x.tag_detailed = true; });
  CAF_CHECK_EQUAL(detailed.add(remote, "a\n").add({"x@1", 10}, "b\n").text,
                  "[2,3][node3:103]<stdout>: a\n"
                  "[1,10][unknown:unknown]<stdout>: b\n");
  auto both = with([](auto& x) { x.tag_detailed = x.tag_fullname = true; });
  CAF_CHECK_EQUAL(both.add(remote, "a\n").text,
                  "[prterun-head-17@2,3][node3:103]<stdout>: a\n");
  auto rank = with([](auto& x) { x.rank = true; });
  CAF_CHECK_EQUAL(rank.add(remote, "a\n", err).text, "[3]<stderr>: a\n");
}

CAF_TEST(I16 a host is looked up once for each stream) {
  auto format = output_format{};
  format.tag_detailed = true;
  display uut{format};
  uut.add(remote, "a\n").add(remote, "b\n").add(remote, "c");
  CAF_CHECK_EQUAL(uut.lookups, 1u);
  uut.end(remote);
  CAF_CHECK_EQUAL(uut.lookups, 1u);
  CAF_CHECK_EQUAL(uut.text, "[2,3][node3:103]<stdout>: a\n"
                            "[2,3][node3:103]<stdout>: b\n"
                            "[2,3][node3:103]<stdout>: c\n");
  uut.add(remote, "again\n");
  CAF_CHECK_EQUAL(uut.lookups, 2u);
}

CAF_TEST(I16 the time in front is when the line was read) {
  auto alone = with([](auto& x) { x.timestamp = true; });
  alone.add(first, "a\nbe", out, 7).add(first, "gun\nc\n", out, 12);
  CAF_CHECK_EQUAL(alone.text, "[Thu Nov  6 16:43:07 2025]<stdout>: a\n"
                              "[Thu Nov  6 16:43:07 2025]<stdout>: begun\n"
                              "[Thu Nov  6 16:43:12 2025]<stdout>: c\n");
  auto tag = with([](auto& x) { x.timestamp = x.tag = true; });
  CAF_CHECK_EQUAL(tag.add(remote, "a\n", out, 9).text,
                  "[Thu Nov  6 16:43:09 2025][2,3]<stdout>: a\n");
  // As OpenPMIx 6.1 has it, with the stream twice.
  auto full = with([](auto& x) { x.timestamp = x.tag_fullname = true; });
  CAF_CHECK_EQUAL(full.add({"n", 1}, "a\n", out, 9).text,
                  "[Thu Nov  6 16:43:09 2025]<stdout>: [n,1]<stdout>: a\n");
  auto iso = with([](auto& x) { x.timestamp = x.rank = x.iso_time = true; });
  CAF_CHECK_EQUAL(iso.add(first, "a\n", out, 9).text,
                  "[2025-11-06T16:43:09.000+01:00][0]<stdout>: a\n");
}

CAF_TEST(I16 elements of XML) {
  auto plain = with([](auto& x) { x.xml = true; });
  plain.add(first, "a<b> & \"c\"\t\xc3\xa4\xff\n").add(second, "x", err);
  plain.end(second, err);
  CAF_CHECK_EQUAL(plain.text, "<stdout rank=\"0\">a&lt;b&gt; &amp; \"c\"&#009;"
                              "\xc3\xa4&#255;&#010;</stdout>\n"
                              "<stderr rank=\"1\">x</stderr>\n");
  auto tag = with([](auto& x) { x.xml = x.tag = x.timestamp = true; });
  CAF_CHECK_EQUAL(tag.add(remote, "a\n", out, 7).add(first, "b\n", out, 8).text,
                  "<stdout jobid=\"2\" rank=\"3\" "
                  "timestamp=\"Thu Nov  6 16:43:07 2025\">a&#010;</stdout>\n"
                  "<stdout nspace=\"job-1\" rank=\"0\" "
                  "timestamp=\"Thu Nov  6 16:43:08 2025\">b&#010;</stdout>\n");
  auto full = with([](auto& x) { x.xml = x.tag_fullname = true; });
  CAF_CHECK_EQUAL(full.add(remote, "a\n").text,
                  "<stdout nspace=\"prterun-head-17@2\" rank=\"3\">"
                  "a&#010;</stdout>\n");
  auto detailed = with([](auto& x) { x.xml = x.tag_detailed = true; });
  CAF_CHECK_EQUAL(detailed.add({"a\"<", 3}, "a\n").text,
                  "<stdout nspace=\"a&quot;&lt;\" rank=\"3\" "
                  "hostname=\"node3\" pid=\"103\">a&#010;</stdout>\n");
}

CAF_TEST(I16 X31 XML has characters of XML only whatever a program writes) {
  auto plain = with([](auto& x) { x.xml = true; });
  plain.add(first, std::string{"\0\x1b\x7f\r\xef\xbf\xbf\xef\xbf\xbd\n", 11});
  CAF_CHECK_EQUAL(plain.text,
                  "<stdout rank=\"0\">&#9216;&#9243;&#127;&#013;"
                  "&#239;&#191;&#191;\xef\xbf\xbd&#010;</stdout>\n");
  CAF_CHECK(!plain.formatter.on_stderr(err));
}

CAF_TEST(I16 raw output is marked as it comes and lines are not waited for) {
  auto uut = with([](auto& x) { x.raw = x.rank = true; });
  uut.add(first, "no line").add(first, " yet\nnext\n");
  CAF_CHECK_EQUAL(uut.text, "[0]<stdout>: no line[0]<stdout>:  yet\nnext\n");
  auto plain = with([](auto& x) { x.raw = true; });
  CAF_CHECK(plain.formatter.is_plain());
  CAF_CHECK_EQUAL(plain.add(first, "x").text, "x");
}

CAF_TEST(X31 a tag cannot be smuggled into a terminal) {
  auto uut = with([](auto& x) { x.tag = true; });
  CAF_CHECK_EQUAL(uut.add({"\x1b]0;\x07", 0}, "a\n").text,
                  "[\\x1b]0;\\x07,0]<stdout>: a\n");
}

CAF_TEST(I18 a gap is told with its bytes where it is) {
  auto label = labelled();
  label.add(first, "whole\nhalf").miss(first, 1234, "rest\n");
  CAF_CHECK_EQUAL(label.text, "0: whole\n0: half\n"
                              "0: [troupe: 1234 bytes are missing here]\n"
                              "0: rest\n");
  auto tag = with([](auto& x) { x.tag = true; });
  CAF_CHECK_EQUAL(tag.miss(first, 1, "").text,
                  "[job-1,0]<stdout>: [troupe: 1 byte is missing here]\n");
  auto raw = with([](auto& x) { x.rank = x.raw = true; });
  CAF_CHECK_EQUAL(raw.add(first, "half").miss(first, 5, "x\n").text,
                  "[0]<stdout>: half\n"
                  "[0]<stdout>: [troupe: 5 bytes are missing here]\n"
                  "[0]<stdout>: x\n");
  auto json = as_json();
  json.miss(first, 77, "x\n", err);
  CAF_CHECK_EQUAL(json.text, R"({"type":"gap","nspace":"job-1","rank":0,)"
                             R"("stream":"stderr","bytes":77})"
                             "\n"
                             R"({"type":"output","nspace":"job-1","rank":0,)"
                             R"("stream":"stderr","data":"x\n"})"
                             "\n");
  auto xml = with([](auto& x) { x.xml = true; });
  CAF_CHECK_EQUAL(xml.miss(first, 9, "").text,
                  "<gap stream=\"stdout\" nspace=\"job-1\" rank=\"0\" "
                  "bytes=\"9\"/>\n");
  CAF_CHECK_EQUAL(missing_notice({first, err}, 3),
                  "troupe: 3 bytes of stderr of job-1:0 are missing here\n");
  auto plain = display{output_format{}};
  CAF_CHECK_EQUAL(plain.miss(first, 3, "x").text, "x");
}

CAF_TEST(I18 206 lines keep whole in any mixture of streams) {
  std::mt19937 random{206};
  for (int round = 0; round < 30; ++round) {
    auto uut = with([](auto& x) { x.tag_fullname = true; });
    std::map<std::pair<proc_id, io_channels>, std::string> written;
    for (int i = 0; i < 400; ++i) {
      const auto who = proc_id{"j", static_cast<uint32_t>(random() % 3)};
      const auto channel = random() % 2 == 0 ? out : err;
      std::string bytes(1 + random() % 20, ' ');
      for (auto& c : bytes)
        c = random() % 9 == 0 ? '\n' : static_cast<char>('a' + who.rank);
      written[{who, channel}] += bytes;
      uut.add(who, bytes, channel);
    }
    std::map<std::pair<proc_id, io_channels>, std::string> shown;
    for (const auto& [key, bytes] : written)
      uut.end(key.first, key.second);
    std::istringstream in{uut.text};
    for (std::string line; std::getline(in, line);) {
      const auto rank = static_cast<uint32_t>(line.at(3) - '0');
      const auto channel = line.find("<stdout>") == 5 ? out : err;
      CAF_REQUIRE_EQUAL(line.substr(0, 13),
                        "[j," + std::to_string(rank)
                          + (channel == out ? "]<stdout>" : "]<stderr>"));
      shown[{{"j", rank}, channel}] += line.substr(15) + '\n';
    }
    for (const auto& [key, bytes] : written) {
      const auto whole = bytes.back() == '\n' ? bytes : bytes + '\n';
      CAF_REQUIRE(shown[key] == whole);
    }
    CAF_CHECK_EQUAL(uut.formatter.unfinished(), 0u);
  }
}

CAF_TEST(LIM14 begins of lines of many processes are bounded) {
  auto uut = labelled();
  const auto half = std::string(output_formatter::max_line / 2, 'x');
  size_t most = 0;
  for (uint32_t rank = 0; rank < 300; ++rank) {
    uut.add({"job-1", rank}, half);
    most = std::max(most, uut.formatter.unfinished());
  }
  CAF_CHECK(most > defaults::io_unfinished_lines / 2);
  CAF_CHECK(most <= defaults::io_unfinished_lines);
  for (uint32_t rank = 0; rank < 300; ++rank)
    uut.end({"job-1", rank});
  CAF_CHECK_EQUAL(uut.formatter.unfinished(), 0u);
  CAF_CHECK_EQUAL(
    static_cast<size_t>(std::count(uut.text.begin(), uut.text.end(), 'x')),
    half.size() * 300);
}
