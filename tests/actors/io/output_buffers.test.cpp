// Output that is kept for a while, as text in and text out.

#include "actors/io/output_buffers.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

output_buffers<int> buffers(uint32_t size, uint32_t time = 0) {
  output_format format;
  format.buffer_size = size;
  format.buffer_time = time;
  return output_buffers<int>{format};
}

} // namespace

CAF_TEST(I16 nothing is kept unless that is asked for) {
  auto uut = buffers(0);
  const auto text = std::string(100, 'x');
  auto copy = text;
  const auto* bytes = copy.data();
  const auto result = uut.add(0, std::move(copy), false);
  CAF_CHECK_EQUAL(result, text);
  CAF_CHECK(result.data() == bytes); // Not even copied.
  CAF_CHECK(uut.empty());
}

CAF_TEST(I16 text is kept until there is enough) {
  auto uut = buffers(5);
  CAF_CHECK_EQUAL(uut.add(0, "ab", false), "");
  CAF_CHECK_EQUAL(uut.add(1, "xy", false), "");
  CAF_CHECK_EQUAL(uut.kept(0), 2u);
  CAF_CHECK_EQUAL(uut.add(0, "cd", false), "");
  CAF_CHECK_EQUAL(uut.add(0, "ef", false), "abcdef");
  CAF_CHECK_EQUAL(uut.kept(0), 0u);
  CAF_CHECK_EQUAL(uut.add(0, "large enough", false), "large enough");
  CAF_CHECK_EQUAL(uut.add(1, "", true), "xy");
  CAF_CHECK_EQUAL(uut.add(1, "", true), "");
  CAF_CHECK(uut.empty());
}

CAF_TEST(I16 what is kept can be taken) {
  auto uut = buffers(100, 3);
  CAF_CHECK_EQUAL(uut.time().count(), 3);
  uut.add(0, "ab", false);
  uut.add(1, "xy", false);
  uut.add(0, "cd", false);
  const auto all = uut.take_all();
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  CAF_CHECK_EQUAL(all[0].second, "abcd");
  CAF_CHECK_EQUAL(all[1].second, "xy");
  CAF_CHECK(uut.empty());
}

CAF_TEST(LIM14 no more is kept than the node allows) {
  auto uut = buffers(0xffffffff, 0xffffffff);
  CAF_CHECK(uut.time() == defaults::io_buffer_time);
  const auto text = std::string(defaults::io_buffer / 4, 'x');
  for (int key = 0; key < 3; ++key)
    CAF_CHECK_EQUAL(uut.add(key, text, false), "");
  CAF_CHECK_EQUAL(uut.add(3, text, false), text);
  CAF_CHECK_EQUAL(uut.add(4, "x", false), "");
}
