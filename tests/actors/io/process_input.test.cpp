// The position of a process in its input.

#include "actors/io/io_inputs.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

/// What becomes of input that is not refused.
process_input::step give(process_input& uut, std::optional<uint64_t> offset,
                         size_t size, bool is_end) {
  const auto result = uut.take(offset, size, is_end);
  CAF_REQUIRE(result.engaged());
  return *result;
}

} // namespace

CAF_TEST(I9 input that comes again is left out and a gap is refused(195)) {
  auto uut = process_input{1000};
  CAF_CHECK_EQUAL(give(uut, 0, 100, false).skip, 0u);
  // A new source begins where the last was acknowledged, or before.
  const auto again = give(uut, 40, 100, false);
  CAF_CHECK_EQUAL(again.skip, 60u);
  CAF_CHECK_EQUAL(again.target, 140u);
  CAF_CHECK_EQUAL(give(uut, 0, 50, false).skip, 50u);
  const auto gap = uut.take(141, 5, false);
  CAF_REQUIRE(!gap);
  CAF_CHECK(status_of(gap.error()) == status::bad_param);
  CAF_CHECK(reason_of(gap.error()).find("byte 140") != std::string::npos);
  CAF_CHECK(!uut.take(UINT64_MAX, 5, false));
  // Without an offset it goes on.
  CAF_CHECK_EQUAL(give(uut, {}, 10, false).target, 150u);
}

CAF_TEST(I9 the end comes once and after all data(197)) {
  auto uut = process_input{1000};
  const auto last = give(uut, 0, 100, true);
  CAF_CHECK(last.ends);
  CAF_CHECK(uut.is_closed());
  CAF_CHECK(!uut.has_left());
  const auto again = give(uut, 0, 100, true);
  CAF_CHECK(!again.ends);
  CAF_CHECK_EQUAL(again.skip, 100u);
  CAF_CHECK_EQUAL(again.target, 100u);
  // Beyond the end nobody reads.
  const auto more = give(uut, 100, 7, false);
  CAF_CHECK_EQUAL(more.skip, 7u);
  CAF_CHECK_EQUAL(more.target, 100u);
  CAF_CHECK_EQUAL(give(uut, 150, 7, false).skip, 7u);
}

CAF_TEST(I9 the end of a source that is behind does not end another) {
  auto uut = process_input{1000};
  uut.take(0, 100, false);
  CAF_CHECK(!give(uut, 0, 60, true).ends);
  CAF_CHECK(!uut.is_closed());
}

CAF_TEST(I9 a process that has left is given nothing more(196)) {
  auto uut = process_input{1000};
  uut.take(0, 100, false);
  uut.note_written(30);
  uut.close();
  CAF_CHECK(uut.has_left());
  CAF_CHECK_EQUAL(uut.written(), 30u);
  const auto more = give(uut, 100, 50, true);
  CAF_CHECK_EQUAL(more.skip, 50u);
  CAF_CHECK_EQUAL(more.target, 30u);
  CAF_CHECK(!more.ends);
}

CAF_TEST(LIM14 I18 input that waits is bounded) {
  auto uut = process_input{100};
  // At once it may be more: it is there already.
  CAF_CHECK(uut.take(0, 300, false).engaged());
  const auto more = uut.take(300, 1, false);
  CAF_REQUIRE(!more);
  CAF_CHECK(status_of(more.error()) == status::out_of_resource);
  uut.note_written(250);
  CAF_CHECK(uut.take(300, 50, false).engaged());
  CAF_CHECK(!uut.take(350, 1, false).engaged());
  // What it has been given already costs nothing.
  CAF_CHECK(uut.take(0, 300, false).engaged());
}
