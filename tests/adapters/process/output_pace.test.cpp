// When the pipe of a process is read: virtual time.

#include "adapters/process/output_pipe.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

constexpr size_t capacity = size_t{256} << 10;
constexpr size_t fragment = size_t{64} << 10;

/// A writer of so many bytes per second, and who reads its pipe as told.
struct writer {
  output_pace pace{capacity};
  double rate;
  output_pace::time now{1h};
  double in_pipe = 0;
  size_t readings = 0;
  output_pace::duration longest{0};

  /// What a reading that waits for nothing takes until it is done.
  static constexpr auto reading = 20us;

  explicit writer(double bytes_per_second) : rate(bytes_per_second) {
    // nop
  }

  void pass(output_pace::duration time) {
    now += time;
    in_pipe += rate * std::chrono::duration<double>(time).count();
    in_pipe = std::min(in_pipe, static_cast<double>(capacity));
  }

  /// @returns how many bytes were read.
  size_t read() {
    pass(reading);
    const auto size = std::min(static_cast<size_t>(in_pipe), fragment);
    in_pipe -= static_cast<double>(size);
    ++readings;
    const auto wait = pace.on_read(now, size, size == fragment);
    longest = std::max(longest, wait);
    pass(wait);
    return size;
  }

  /// @returns the bytes of an average reading once the pace has settled.
  size_t settle() {
    for (int i = 0; i < 20; ++i)
      read();
    readings = 0;
    size_t bytes = 0;
    for (int i = 0; i < 1000; ++i)
      bytes += read();
    return bytes / readings;
  }
};

} // namespace

CAF_TEST(I18 lines at leisure are read at once) {
  output_pace pace{capacity};
  auto now = output_pace::time{1h};
  for (int i = 0; i < 100; ++i) {
    now += 1ms;
    CAF_REQUIRE_EQUAL(pace.on_read(now, 64, false).count(), 0);
    CAF_REQUIRE(!pace.is_busy());
  }
}

CAF_TEST(I18 a few lines in a row are read at once) {
  output_pace pace{capacity};
  auto now = output_pace::time{1h};
  for (int burst = 0; burst < 10; ++burst) {
    now += 10ms;
    for (int i = 0; i < 4; ++i) {
      now += 20us;
      CAF_REQUIRE_EQUAL(pace.on_read(now, 64, false).count(), 0);
    }
  }
}

CAF_TEST(I18 the pieces of a busy writer gather and the longer the fuller) {
  // What comes at 20 MB/s makes 64 KiB in 3.3 ms.
  writer slow{20e6};
  const auto of_slow = slow.settle();
  CAF_CHECK(of_slow > fragment * 3 / 4);
  CAF_CHECK(slow.longest <= output_pace::most_time);
  // At 300 MB/s half the pipe is full in 0.4 ms: two readings.
  writer fast{300e6};
  const auto of_fast = fast.settle();
  CAF_CHECK(of_fast > fragment / 2);
  CAF_CHECK(fast.longest < 600us);
}

CAF_TEST(I18 no writer waits because its bytes gather) {
  for (const auto rate :
       {1e6, 5e6, 20e6, 50e6, 100e6, 200e6, 400e6, 1e9, 2e9}) {
    writer x{rate};
    x.settle();
    const auto begin = x.now;
    size_t bytes = 0;
    for (int i = 0; i < 1000; ++i)
      bytes += x.read();
    const auto seconds = std::chrono::duration<double>(x.now - begin).count();
    CAF_CHECK(static_cast<double>(bytes) / seconds > 0.98 * rate);
  }
}

CAF_TEST(I18 a writer of little has its lines gathered for a moment only) {
  output_pace pace{capacity};
  auto now = output_pace::time{1h};
  auto wait = output_pace::duration::zero();
  for (int i = 0; i < 5; ++i)
    wait = pace.on_read(now += 20us, 64, false);
  CAF_CHECK(wait == output_pace::least_time);
  for (int i = 0; i < 20; ++i) {
    now += wait + 20us;
    wait = pace.on_read(now, 1000, false);
    CAF_CHECK(wait == output_pace::least_time);
  }
  // And who has come to rest is read at once.
  now += wait + 1s;
  CAF_CHECK_EQUAL(pace.on_read(now, 64, false).count(), 0);
  CAF_CHECK(!pace.is_busy());
}

CAF_TEST(I18 large pieces are read at once) {
  output_pace pace{capacity};
  auto now = output_pace::time{1h};
  for (int i = 0; i < 100; ++i) {
    now += 30us;
    CAF_REQUIRE_EQUAL(pace.on_read(now, fragment, true).count(), 0);
    now += 30us;
    CAF_REQUIRE_EQUAL(pace.on_read(now, fragment / 2, false).count(), 0);
  }
}

CAF_TEST(I18 nothing gathers in a terminal or in a tiny pipe) {
  for (const size_t room : {0, 4096, 8192}) {
    output_pace pace{room};
    auto now = output_pace::time{1h};
    for (int i = 0; i < 100; ++i) {
      now += 20us;
      CAF_REQUIRE_EQUAL(pace.on_read(now, 4096, false).count(), 0);
    }
  }
}
