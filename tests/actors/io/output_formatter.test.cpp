// How the output of processes is shown, as text in and text out.

#include "actors/io/output_formatter.hpp"

#include "actors/io/defaults.hpp"
#include "tests/fixtures/output_display.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::display_of_output;

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
  CAF_CHECK_EQUAL(uut.text,
                  R"({"type":"output","schema":1,"nspace":"job-1","rank":0,)"
                  R"("stream":"stdout","data":"a \"quoted\" line\n"})"
                  "\n"
                  R"({"type":"output","schema":1,"nspace":"job-2","rank":0,)"
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
  CAF_CHECK_EQUAL(json.text,
                  R"({"type":"gap","schema":1,"nspace":"job-1","rank":0,)"
                  R"("stream":"stderr","bytes":77})"
                  "\n"
                  R"({"type":"output","schema":1,"nspace":"job-1","rank":0,)"
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
