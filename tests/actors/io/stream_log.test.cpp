// What sinks of a stream get, and what is kept.

#include "actors/io/stream_log.hpp"

#include "tests/fixtures/stream_log_steps.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::logs;

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

CAF_TEST(I18 a sink that drops may leave more waiting than a window) {
  stream_log log{0};
  log.add_sink(1, wants(io_policy::drop_oldest, io_start::tail, 0, 4 * window));
  log.add_sink(2, wants(io_policy::drop_newest, io_start::tail, 0, 3 * window));
  for (size_t i = 0; i < 20; ++i)
    log.append(std::string(window / 2, 'x'), 0);
  CAF_CHECK_EQUAL(log.held(), 7 * window);
  CAF_CHECK_EQUAL(log.needed(), 0u);
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
