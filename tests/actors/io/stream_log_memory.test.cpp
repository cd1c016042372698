// How much of a stream is held.

#include "actors/io/stream_log.hpp"
#include "config/defaults.hpp"
#include "tests/fixtures/stream_log_steps.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::logs;

CAF_TEST(what is kept does not count against the window of a new sink) {
  for (const auto policy : {io_policy::drop_oldest, io_policy::drop_newest}) {
    stream_log log{100};
    log.append("0123456789", 0);
    log.add_sink(1, wants(policy, io_start::tail, 0, 4));
    CAF_CHECK_EQUAL(step(log, 1), "0:0123");
    CAF_CHECK_EQUAL(drain(log, 1), "4:4567 8:89 ");
    log.append("abcdef", 0);
    CAF_CHECK_EQUAL(drain(log, 1), policy == io_policy::drop_oldest
                                     ? "12+2:cdef "
                                     : "10:abcd ");
  }
}

CAF_TEST(LIM14 IO-1 sinks that drop hold less when they are told and count it) {
  constexpr auto least = defaults::io_window_least;
  stream_log log{0};
  log.add_sink(1, wants(io_policy::drop_oldest));
  log.add_sink(2, wants(io_policy::drop_newest));
  auto written = uint64_t{0};
  const auto write = [&](size_t n) {
    log.append(std::string(n, 'x'), 0);
    written += n;
  };
  write(window);
  CAF_CHECK_EQUAL(log.held(), 2 * window);
  // They share it with each other, and with those that come later.
  log.keep(80 << 10);
  CAF_CHECK_EQUAL(log.held(), size_t{80} << 10);
  write(window);
  CAF_CHECK_EQUAL(log.held(), size_t{80} << 10);
  log.add_sink(3, wants(io_policy::drop_newest));
  CAF_CHECK(log.held() <= size_t{80} << 10);
  // Each of them has a little at any rate.
  log.keep(0);
  CAF_CHECK_EQUAL(log.held(), 3 * least);
  log.keep(SIZE_MAX);
  write(window / 2);
  CAF_CHECK_EQUAL(log.held(), 3 * window / 2 + 3 * least);
  log.end();
  for (const uint64_t id : {1U, 2U, 3U}) {
    auto next = uint64_t{0};
    auto told = uint64_t{0};
    while (const auto x = log.next(id, fragment)) {
      CAF_CHECK_EQUAL(x->offset, next + x->missed);
      next = x->offset + x->bytes.size();
      told += x->missed + x->bytes.size();
      log.taken(id);
    }
    CAF_CHECK_EQUAL(told, written);
  }
  CAF_CHECK(log.is_over());
}

CAF_TEST(LIM14 what sinks that block have to get is needed) {
  stream_log log{100};
  log.append("0123456789", 0);
  CAF_CHECK_EQUAL(log.needed(), 0u);
  log.add_sink(1, wants());
  log.add_sink(2, wants(io_policy::drop_oldest));
  CAF_CHECK_EQUAL(log.needed(), 10u);
  log.keep(0);
  CAF_CHECK_EQUAL(log.held(), 10u);
  step(log, 1, 4);
  CAF_CHECK_EQUAL(log.needed(), 6u);
  log.remove_sink(1);
  CAF_CHECK_EQUAL(log.needed(), 0u);
}

CAF_TEST(LIM14 what is on its way to all sinks is shared by their streams) {
  const auto all = std::make_shared<shared_window>(size_t{256} << 10);
  auto logs = std::vector<stream_log>{};
  for (size_t i = 0; i < 30; ++i) {
    auto& log = logs.emplace_back(0);
    log.add_sink(1, wants(), false, all);
    log.append(std::string(window, 'x'), 0);
    while (log.next(1, fragment)) {
      // It is not answered.
    }
  }
  const auto least = defaults::io_window_least;
  CAF_CHECK(all->used() <= (size_t{256} << 10) + 30 * least);
  // Each goes on with its own answers.
  auto& last = logs.back();
  for (size_t i = 0; i < window / least; ++i) {
    CAF_CHECK_EQUAL(last.settled(), i * least);
    last.taken(1);
    last.next(1, fragment);
  }
  CAF_CHECK_EQUAL(last.settled(), window);
  const auto before = all->used();
  logs.front().remove_sink(1);
  CAF_CHECK(all->used() < before);
  logs.clear();
  CAF_CHECK_EQUAL(all->used(), 0u);
}

CAF_TEST(LIM14 less is kept from now on) {
  stream_log log{1000};
  log.append(std::string(1000, 'x'), 0);
  log.keep(10);
  CAF_CHECK_EQUAL(log.held(), 10u);
  log.append(std::string(5, 'y'), 0);
  CAF_CHECK_EQUAL(log.held(), 10u);
  log.keep(20);
  log.append(std::string(50, 'z'), 0);
  CAF_CHECK_EQUAL(log.held(), 20u);
  log.add_sink(1, wants());
  log.keep(0);
  CAF_CHECK_EQUAL(log.held(), 20u); // It blocks: nothing is lost.
  CAF_CHECK_EQUAL(step(log, 1), "1035+1035:" + std::string(20, 'z'));
  CAF_CHECK_EQUAL(log.held(), 0u);
}

CAF_TEST(LIM14 less of the beginning is kept) {
  stream_log log{8, io_policy::drop_newest};
  log.append("abcdef", 0);
  log.keep(3);
  log.append("gh", 0);
  CAF_CHECK_EQUAL(log.held(), 3u);
  log.add_sink(1, wants());
  log.end();
  CAF_CHECK_EQUAL(drain(log, 1), "0:abc 8+5:. ");
}

CAF_TEST(IO-2 what is on its way to a sink that blocks is bounded) {
  stream_log log{0};
  log.add_sink(1, wants());
  for (size_t i = 0; i < 100; ++i)
    log.append(std::string(fragment, 'x'), 0);
  size_t given = 0;
  while (const auto x = log.next(1, fragment))
    given += x->bytes.size();
  CAF_CHECK(given >= fragment);
  CAF_CHECK(given <= window);
  CAF_CHECK_EQUAL(log.settled(), 0u);
  log.taken(1);
  CAF_CHECK_EQUAL(log.settled(), fragment);
  CAF_CHECK(log.next(1, fragment));
}

CAF_TEST(small pieces that wait are joined) {
  stream_log log{1 << 20};
  log.add_sink(1, wants());
  auto written = std::string{};
  for (size_t i = 0; i < 10000; ++i) {
    const auto line = std::to_string(i) + "\n";
    written += line;
    log.append(line, 0);
  }
  auto got = std::string{};
  size_t fragments = 0;
  while (const auto x = log.next(1, fragment)) {
    CAF_CHECK_EQUAL(x->offset, got.size());
    got += x->bytes;
    ++fragments;
    log.taken(1);
  }
  CAF_CHECK(got == written);
  CAF_CHECK_EQUAL(fragments, 1u);
}
