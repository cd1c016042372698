// Copies of a stream on other nodes.

#include "actors/io/stream_log.hpp"
#include "tests/fixtures/stream_log_steps.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::logs;

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
