#include "adapters/loop/memory_reserve.hpp"

#include "adapters/loop/event_loop.hpp"
#include "tests/test.hpp"

#include <new>
#include <string>

using namespace troupe;

namespace {

constexpr auto size = size_t{4} << 20;

int called = 0;

void of_program() {
  ++called;
  throw std::bad_alloc{};
}

} // namespace

// Each test is a process of its own.

CAF_TEST(MND-A10 an allocation that fails gets the reserve and the next does not) {
  std::set_new_handler(of_program);
  keep_memory_reserve(size);
  CAF_CHECK(!is_memory_short());
  const auto handler = std::get_new_handler();
  handler();
  CAF_CHECK(is_memory_short());
  CAF_CHECK_EQUAL(called, 0);
  auto was_thrown = false;
  try {
    handler();
  } catch (const std::bad_alloc&) {
    was_thrown = true;
  }
  CAF_CHECK(was_thrown);
  CAF_CHECK_EQUAL(called, 1);
  refill_memory_reserve();
  CAF_CHECK(!is_memory_short());
}

CAF_TEST(MND-A10 to keep it twice is to keep it once) {
  keep_memory_reserve(size);
  keep_memory_reserve(size / 2);
  const auto handler = std::get_new_handler();
  handler();
  auto was_thrown = false;
  try {
    handler();
  } catch (const std::bad_alloc&) {
    was_thrown = true;
  }
  CAF_CHECK(was_thrown);
}

CAF_TEST(MND-A10 tasks after one without memory run) {
  keep_memory_reserve(size);
  event_loop loop;
  auto trace = std::string{};
  loop.post([&] {
    trace += 'a';
    throw std::bad_alloc{};
  });
  loop.post([&] {
    trace += 'b';
    loop.stop();
  });
  loop.run();
  CAF_CHECK_EQUAL(trace, "ab");
}
