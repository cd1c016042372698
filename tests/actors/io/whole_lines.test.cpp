// Lines of several streams in one text, however the streams are cut.

#include "actors/io/defaults.hpp"
#include "actors/io/output_buffers.hpp"
#include "tests/test.hpp"

#include <random>

using namespace troupe;

namespace {

constexpr auto out = io_channels::stdout_;

io_fragment part(uint32_t rank, std::string bytes, bool is_end = false) {
  auto result = io_fragment{};
  result.stream = {{"job", rank}, out};
  result.bytes = std::move(bytes);
  result.is_end = is_end;
  return result;
}

} // namespace

CAF_TEST(MND-TORN the begin of a line waits for its rest) {
  whole_lines uut;
  CAF_CHECK_EQUAL(uut.add(part(0, "one\ntw")), "one\n");
  CAF_CHECK_EQUAL(uut.add(part(1, "other\n")), "other\n");
  CAF_CHECK_EQUAL(uut.add(part(0, "o")), "");
  CAF_CHECK_EQUAL(uut.add(part(0, "\nthree\n")), "two\nthree\n");
  CAF_CHECK(uut.empty());
}

CAF_TEST(MND-TORN a question is shown after one to two periods) {
  whole_lines uut;
  CAF_CHECK_EQUAL(uut.add(part(0, "name? ")), "");
  CAF_CHECK_EQUAL(uut.advance(), "");
  CAF_CHECK_EQUAL(uut.add(part(1, "and yours? ")), "");
  CAF_CHECK_EQUAL(uut.advance(), "name? ");
  CAF_CHECK(!uut.empty());
  CAF_CHECK_EQUAL(uut.advance(), "and yours? ");
  CAF_CHECK(uut.empty());
}

CAF_TEST(MND-TORN more of a line does not make it wait longer) {
  whole_lines uut;
  CAF_CHECK_EQUAL(uut.add(part(0, "1%")), "");
  CAF_CHECK_EQUAL(uut.advance(), "");
  CAF_CHECK_EQUAL(uut.add(part(0, " 2%")), "");
  CAF_CHECK_EQUAL(uut.advance(), "1% 2%");
}

CAF_TEST(MND-TORN a stream alone does not wait until there is a second) {
  whole_lines uut{false};
  CAF_CHECK_EQUAL(uut.add(part(0, "name? ")), "name? ");
  CAF_CHECK_EQUAL(uut.add(part(1, "x")), "");
  CAF_CHECK_EQUAL(uut.add(part(0, "y")), "");
}

CAF_TEST(MND-TORN nothing is kept at the end of a stream nor before a gap) {
  whole_lines uut;
  CAF_CHECK_EQUAL(uut.add(part(0, "one")), "");
  CAF_CHECK_EQUAL(uut.add(part(0, "", true)), "one");
  CAF_CHECK_EQUAL(uut.add(part(1, "two")), "");
  auto late = part(1, "four");
  late.missed = 6;
  CAF_CHECK_EQUAL(uut.add(std::move(late)), "twofour");
  CAF_CHECK(uut.empty());
}

CAF_TEST(MND-TORN what is kept is bounded by line and by all) {
  whole_lines uut;
  const auto most = std::string(whole_lines::max_line, 'x');
  CAF_CHECK_EQUAL(uut.add(part(0, most)), "");
  CAF_CHECK_EQUAL(uut.add(part(0, "y")), most + "y");
  const auto streams = defaults::io_unfinished_lines / whole_lines::max_line;
  for (uint32_t rank = 0; rank < streams; ++rank)
    CAF_CHECK_EQUAL(uut.add(part(rank, most)), "");
  CAF_CHECK_EQUAL(uut.add(part(9999, "z")), "z");
}

CAF_TEST(MND-TORN however two streams are cut all lines are whole) {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    std::string streams[2];
    for (int i = 0; i < 400; ++i)
      for (uint32_t rank : {0u, 1u})
        streams[rank] += std::string(random() % 90, "ab"[rank]) + '\n';
    whole_lines uut;
    std::string text;
    size_t at[2] = {0, 0};
    while (at[0] < streams[0].size() || at[1] < streams[1].size()) {
      const auto rank = static_cast<uint32_t>(random() % 2);
      const auto next = streams[rank].substr(at[rank], random() % 3000);
      at[rank] += next.size();
      text += uut.add(part(rank, next));
    }
    CAF_CHECK(uut.empty());
    CAF_CHECK_EQUAL(text.size(), streams[0].size() + streams[1].size());
    std::string seen[2];
    for (size_t begin = 0; begin < text.size();) {
      const auto end = text.find('\n', begin) + 1;
      const auto line = text.substr(begin, end - begin);
      begin = end;
      CAF_REQUIRE(line.find('a') == std::string::npos
                  || line.find('b') == std::string::npos);
      if (line != "\n")
        seen[line[0] - 'a'] += line;
    }
    for (uint32_t rank : {0u, 1u}) {
      auto expected = std::string{};
      for (size_t begin = 0; begin < streams[rank].size();) {
        const auto end = streams[rank].find('\n', begin) + 1;
        if (end - begin > 1)
          expected += streams[rank].substr(begin, end - begin);
        begin = end;
      }
      CAF_REQUIRE_EQUAL(seen[rank], expected);
    }
  }
}
