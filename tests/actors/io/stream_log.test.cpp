#include "actors/io/stream_log.hpp"

#include "config/defaults.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr size_t fragment = defaults::io_fragment_bytes;
constexpr size_t window = defaults::io_window;

io_subscription wants(io_policy policy = io_policy::block,
                      io_start start = io_start::tail, uint64_t offset = 0,
                      uint64_t window = 0) {
  io_subscription result;
  result.policy = policy;
  result.start = start;
  result.offset = offset;
  result.window = window;
  return result;
}

/// Gives a sink its next fragment, answered or not: `offset+missed:bytes`, and
/// a dot at the end.
std::string give(stream_log& log, uint64_t id, size_t size = fragment) {
  const auto x = log.next(id, size);
  if (!x)
    return "";
  auto result = std::to_string(x->offset);
  if (x->missed > 0)
    result += "+" + std::to_string(x->missed);
  return result + ":" + x->bytes + (x->is_end ? "." : "");
}

std::string step(stream_log& log, uint64_t id, size_t size = fragment) {
  const auto result = give(log, id, size);
  log.taken(id);
  return result;
}

/// All that a sink takes, at once.
std::string drain(stream_log& log, uint64_t id) {
  auto result = std::string{};
  for (auto x = step(log, id); !x.empty(); x = step(log, id))
    result += x + " ";
  return result;
}

uint64_t missed(const stream_log& log) {
  return log.status().sinks.at(0).missed;
}

CAF_TEST(I8 without a sink the writer goes on and the tail is kept) {
  stream_log log{4};
  CAF_CHECK_EQUAL(log.append("abcdef", 0), 6u);
  CAF_CHECK_EQUAL(log.settled(), 6u);
  CAF_CHECK_EQUAL(log.held(), 4u);
  log.append("gh", 0);
  log.add_sink(1, wants());
  CAF_CHECK_EQUAL(step(log, 1), "4+4:efgh");
  log.append("i", 0);
  CAF_CHECK_EQUAL(step(log, 1), "8:i");
  CAF_CHECK_EQUAL(step(log, 1), "");
  CAF_CHECK_EQUAL(missed(log), 4u);
}

CAF_TEST(I18 the writer waits for the slowest sink that blocks) {
  stream_log log{100};
  log.add_sink(1, wants());
  log.add_sink(2, wants());
  log.add_sink(3, wants(io_policy::drop_oldest));
  const auto due = log.append("abc", 0);
  CAF_CHECK_EQUAL(drain(log, 1), "0:abc ");
  CAF_CHECK_EQUAL(log.settled(), 0u);
  CAF_CHECK_EQUAL(give(log, 2), "0:abc");
  CAF_CHECK_LESS(log.settled(), due);
  log.taken(2);
  CAF_CHECK_EQUAL(log.settled(), due);
}

CAF_TEST(I18 I8 a sink that goes releases the writer) {
  stream_log log{2};
  log.add_sink(1, wants());
  const auto due = log.append("abcdef", 0);
  give(log, 1, 3);
  CAF_CHECK_LESS(log.settled(), due);
  log.remove_sink(1);
  CAF_CHECK_EQUAL(log.settled(), due);
  CAF_CHECK_EQUAL(log.held(), 2u);
  CAF_CHECK_EQUAL(log.next(1, 10).has_value(), false);
}

CAF_TEST(I18 I8 nobody waits for a sink for which there is nothing) {
  stream_log log{0};
  log.add_sink(1, wants());
  const auto due = log.append("abc", 0);
  give(log, 1);
  // What is on its way to one is not kept for another.
  log.add_sink(2, wants());
  CAF_CHECK_EQUAL(log.settled(), 0u);
  log.taken(1);
  CAF_CHECK_EQUAL(log.settled(), due);
  log.append("d", 0);
  CAF_CHECK_EQUAL(step(log, 2), "3+3:d");
}

CAF_TEST(IO-3 the end comes after the last byte and once) {
  stream_log log{100};
  log.add_sink(1, wants());
  log.append("abc", 0);
  CAF_CHECK_EQUAL(step(log, 1), "0:abc");
  const auto due = log.end();
  CAF_CHECK_LESS(log.settled(), due);
  CAF_CHECK_EQUAL(log.is_over(), false);
  CAF_CHECK_EQUAL(give(log, 1), "3:.");
  CAF_CHECK_EQUAL(log.is_over(), false);
  log.taken(1);
  CAF_CHECK_EQUAL(log.is_over(), true);
  CAF_CHECK_EQUAL(log.settled(), due);
  CAF_CHECK_EQUAL(log.end(), due);
  CAF_CHECK_EQUAL(drain(log, 1), "");
  CAF_CHECK(log.append("late", 0) <= log.settled());
  CAF_CHECK_EQUAL(drain(log, 1), "");
  CAF_CHECK_EQUAL(log.status().end, 3u);
}

CAF_TEST(IO-3 the end comes with the last byte if it is known) {
  stream_log log{100};
  log.append("abc", 0);
  log.end();
  log.add_sink(1, wants());
  log.add_sink(2, wants(io_policy::block, io_start::live));
  log.add_sink(3, wants(io_policy::block, io_start::offset, 50));
  CAF_CHECK_EQUAL(drain(log, 1), "0:abc. ");
  CAF_CHECK_EQUAL(drain(log, 2), "3:. ");
  CAF_CHECK_EQUAL(drain(log, 3), "3:. ");
  CAF_CHECK_EQUAL(log.is_over(), true);
}

CAF_TEST(IO-5 sinks start at the tail or live or at an offset) {
  stream_log log{4};
  log.append("abcdef", 0);
  log.add_sink(1, wants(io_policy::block, io_start::live));
  log.add_sink(2, wants(io_policy::block, io_start::offset, 3));
  log.add_sink(3, wants(io_policy::block, io_start::offset, 1));
  log.add_sink(4, wants(io_policy::block, io_start::offset, 8));
  log.append("ghij", 0);
  CAF_CHECK_EQUAL(drain(log, 1), "6:ghij ");
  CAF_CHECK_EQUAL(drain(log, 2), "3:defghij ");
  CAF_CHECK_EQUAL(drain(log, 3), "2+1:cdefghij ");
  CAF_CHECK_EQUAL(drain(log, 4), "8:ij ");
  CAF_CHECK_EQUAL(log.held(), 4u);
}

CAF_TEST(I8 a sink comes back at the byte that it names) {
  stream_log log{100};
  log.add_sink(1, wants());
  log.append("abcdef", 0);
  CAF_CHECK_EQUAL(step(log, 1, 2), "0:ab");
  log.remove_sink(1);
  log.append("ghi", 0);
  log.add_sink(2, wants(io_policy::block, io_start::offset, 2));
  CAF_CHECK_EQUAL(drain(log, 2), "2:cdefghi ");
}

CAF_TEST(IO-1 IO-2 the oldest are dropped and counted to the byte) {
  stream_log log{0};
  log.add_sink(1, wants(io_policy::drop_oldest, io_start::tail, 0, 10));
  log.append("0123456789", 0);
  CAF_CHECK_EQUAL(log.settled(), 10u);
  CAF_CHECK_EQUAL(give(log, 1, 4), "0:0123");
  log.append("abcdef", 0);
  CAF_CHECK_EQUAL(log.held(), 10u);
  CAF_CHECK_EQUAL(give(log, 1), "");
  log.taken(1);
  CAF_CHECK_EQUAL(step(log, 1), "6+2:6789abcdef");
  CAF_CHECK_EQUAL(missed(log), 2u);
  CAF_CHECK_EQUAL(log.held(), 0u);
}

CAF_TEST(IO-1 IO-2 the newest are dropped until half is free) {
  stream_log log{0};
  log.add_sink(1, wants(io_policy::drop_newest, io_start::tail, 0, 10));
  log.append("01234567", 0);
  log.append("abcdef", 0);
  CAF_CHECK_EQUAL(log.settled(), 14u);
  CAF_CHECK_EQUAL(log.held(), 10u);
  CAF_CHECK_EQUAL(step(log, 1, 4), "0:0123");
  log.append("gh", 0);
  CAF_CHECK_EQUAL(step(log, 1, 1), "4:4");
  log.append("ij", 0);
  CAF_CHECK_EQUAL(step(log, 1), "5:567ab");
  CAF_CHECK_EQUAL(step(log, 1), "16+6:ij");
  CAF_CHECK_EQUAL(log.held(), 0u);
}

CAF_TEST(IO-1 what was dropped last is told with the end) {
  stream_log log{0};
  log.add_sink(1, wants(io_policy::drop_newest, io_start::tail, 0, 4));
  log.append("abcdef", 0);
  log.end();
  CAF_CHECK_EQUAL(drain(log, 1), "0:abcd 6+2:. ");
  CAF_CHECK_EQUAL(log.is_over(), true);
}

CAF_TEST(IO-2 the newest of a stream that nobody reads are dropped) {
  stream_log log{4, io_policy::drop_newest};
  log.append("abc", 0);
  log.append("def", 0);
  CAF_CHECK_EQUAL(log.held(), 4u);
  CAF_CHECK_EQUAL(log.settled(), 6u);
  log.add_sink(1, wants());
  log.append("gh", 0);
  CAF_CHECK_EQUAL(log.settled(), 0u);
  CAF_CHECK_EQUAL(drain(log, 1), "0:abcd 6+2:gh ");
  CAF_CHECK_EQUAL(log.settled(), 8u);
  CAF_CHECK_EQUAL(log.held(), 4u);
  // The beginning stays for those who come later.
  log.add_sink(2, wants(io_policy::block, io_start::offset, 2));
  CAF_CHECK_EQUAL(drain(log, 2), "2:cd ");
  log.end();
  CAF_CHECK_EQUAL(drain(log, 2), "8+4:. ");
}

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

CAF_TEST(I18 a sink that drops may leave more waiting than a window) {
  stream_log log{0};
  log.add_sink(1, wants(io_policy::drop_oldest, io_start::tail, 0, 4 * window));
  log.add_sink(2, wants(io_policy::drop_newest, io_start::tail, 0, 3 * window));
  for (size_t i = 0; i < 20; ++i)
    log.append(std::string(window / 2, 'x'), 0);
  CAF_CHECK_EQUAL(log.held(), 7 * window);
  CAF_CHECK_EQUAL(log.needed(), 0u);
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

CAF_TEST(I18 a sink that has gone says how far it has come) {
  stream_log log{100};
  log.add_sink(1, wants());
  log.append("abcdef", 0);
  step(log, 1, 4);
  give(log, 1, 1);
  CAF_CHECK_EQUAL(log.remove_sink(1), 4u);
  CAF_CHECK_EQUAL(log.remove_sink(1), 0u);
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

CAF_TEST(IO-1 a copy leaves out what it knows and counts what never comes) {
  stream_log log{100};
  log.add_sink(1, wants());
  log.append_at(10, "abcd", 0);
  CAF_CHECK_EQUAL(drain(log, 1), "10+10:abcd ");
  CAF_CHECK_EQUAL(log.append_at(10, "abcd", 0), 14u);
  CAF_CHECK_EQUAL(drain(log, 1), "");
  CAF_CHECK_EQUAL(log.append_at(12, "cdef", 0), 16u);
  CAF_CHECK_EQUAL(drain(log, 1), "14:ef ");
  log.append_at(20, "g", 0);
  CAF_CHECK_EQUAL(drain(log, 1), "20+4:g ");
  log.end_at(25);
  CAF_CHECK_EQUAL(drain(log, 1), "25+4:. ");
}

CAF_TEST(offsets that no stream has are refused) {
  stream_log log{100};
  log.append("abc", 0);
  CAF_CHECK(log.append_at(~0ull, "abc", 0) <= log.settled());
  CAF_CHECK_EQUAL(log.status().end, 3u);
  log.add_sink(1, wants(io_policy::block, io_start::offset, ~0ull));
  CAF_CHECK_EQUAL(drain(log, 1), "");
  CAF_CHECK_EQUAL(log.settled(), 3u);
  CAF_CHECK_EQUAL(log.fetch(~0ull, 10).bytes, "");
}

CAF_TEST(IO-5 a copy gets what it lacks from elsewhere without a seam) {
  stream_log log{4};
  log.append_at(0, "0123456789", 0);
  log.add_sink(1, wants(io_policy::block, io_start::offset, 2), true);
  auto lack = log.lacks(1);
  CAF_REQUIRE(lack);
  CAF_CHECK_EQUAL(lack->from, 2u);
  CAF_CHECK_EQUAL(lack->until, 6u);
  log.append("ab", 0);
  CAF_CHECK_EQUAL(give(log, 1), "");
  CAF_CHECK_EQUAL(log.settled(), 2u);
  // More than asked for, on both sides.
  auto got = io_fragment{};
  got.offset = 1;
  got.bytes = "123";
  auto x = log.fill(1, got);
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->offset, 2u);
  CAF_CHECK_EQUAL(x->bytes, "23");
  CAF_CHECK(!log.lacks(1));
  CAF_CHECK_EQUAL(give(log, 1), "");
  log.taken(1);
  lack = log.lacks(1);
  CAF_REQUIRE(lack);
  CAF_CHECK_EQUAL(lack->from, 4u);
  got.offset = 5;
  got.bytes = "56789";
  x = log.fill(1, got);
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->missed, 1u);
  CAF_CHECK_EQUAL(x->bytes, "5");
  log.taken(1);
  CAF_CHECK(!log.lacks(1));
  CAF_CHECK_EQUAL(drain(log, 1), "6:6789ab ");
}

CAF_TEST(IO-1 what nobody has any more is counted) {
  stream_log log{4};
  log.append_at(0, "0123456789", 0);
  log.add_sink(1, wants(io_policy::block, io_start::offset, 2), true);
  CAF_CHECK(!log.fill(1, std::nullopt));
  CAF_CHECK_EQUAL(drain(log, 1), "6+4:6789 ");
  // A sink that starts at the tail asks for nothing that is elsewhere.
  log.add_sink(2, wants(), true);
  CAF_CHECK(!log.lacks(2));
}

CAF_TEST(I8 a part of a stream is fetched with what is gone before it) {
  stream_log log{6};
  log.append("0123456789", 0);
  auto x = log.fetch(0, 3);
  CAF_CHECK_EQUAL(x.offset, 4u);
  CAF_CHECK_EQUAL(x.missed, 4u);
  CAF_CHECK_EQUAL(x.bytes, "456");
  CAF_CHECK(!x.is_end);
  x = log.fetch(8, 100);
  CAF_CHECK_EQUAL(x.bytes, "89");
  CAF_CHECK(!x.is_end);
  log.end();
  CAF_CHECK(log.fetch(8, 100).is_end);
  CAF_CHECK(!log.fetch(8, 1).is_end);
  x = log.fetch(10, 100);
  CAF_CHECK_EQUAL(x.bytes, "");
  CAF_CHECK(x.is_end);
}

} // namespace
