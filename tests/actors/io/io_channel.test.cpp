// A stream and its sinks, as actors.

#include "actors/io/io_channel.hpp"

#include "config/defaults.hpp"
#include "tests/fixtures/channel_world.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::channels;

CAF_TEST_FIXTURE_SCOPE(io_channel_tests, channel_world)

CAF_TEST(I8 nobody reads and the writer goes on until somebody comes) {
  start(options(4));
  pass("abc");
  pass("def");
  CAF_CHECK_EQUAL(held, 4u);
  const auto log = add(1);
  CAF_CHECK_EQUAL(log->text, "<2>cdef");
  pass("gh");
  pass("");
  CAF_CHECK_EQUAL(log->text, "<2>cdefgh.");
  CAF_CHECK_EQUAL(held, 4u);
}

CAF_TEST(I1 I4 fragments say which stream they are of and where they stand) {
  start(options());
  const auto log = add(1);
  pass("abc");
  pass("de");
  CAF_REQUIRE_EQUAL(log->got.size(), 2u);
  const auto& x = log->got[1];
  CAF_CHECK_EQUAL(x.stream.source, (proc_id{"job", 7}));
  CAF_CHECK(x.stream.channel == io_channels::stdout_);
  CAF_CHECK_EQUAL(x.offset, 3u);
  CAF_CHECK_EQUAL(x.missed, 0u);
  CAF_CHECK_EQUAL(x.read_at, 5);
}

CAF_TEST(I16 fragments have the number of the process that writes) {
  start(options());
  const auto log = add(1);
  pid = 17;
  pass("abc");
  pid = 0; // Whoever says that a stream is over may not know it.
  pass("de");
  pid = 18; // Started again.
  pass("f");
  pass("");
  CAF_REQUIRE_EQUAL(log->text, "abcdef.");
  auto pids = std::vector<uint32_t>{};
  for (const auto& x : log->got)
    pids.push_back(x.pid);
  CAF_CHECK_EQUAL(pids, (std::vector<uint32_t>{17, 17, 18, 18}));
  const auto kept = request<io_fragment>(
    uut, io_fetch{{{"job", 7}, io_channels::stdout_}, 0, 3});
  CAF_CHECK_EQUAL(kept.pid, 18u);
}

CAF_TEST(I18 the writer waits for all sinks that block and for no other) {
  start(options());
  const auto a = add(1, false);
  const auto b = add(2, false);
  auto how = io_subscription{};
  how.policy = io_policy::drop_oldest;
  const auto c = add(3, false, how);
  auto pending = write("abc");
  CAF_CHECK_EQUAL(answers(), 0u);
  a->take();
  consume_messages();
  CAF_CHECK_EQUAL(answers(), 0u);
  b->take();
  consume_messages();
  get(pending);
  CAF_CHECK_EQUAL(c->text, "abc");
}

CAF_TEST(I18 LIM14 a sink that sleeps gets little and then everything) {
  start(options(0));
  const auto log = add(1, false);
  auto written = std::string{};
  using pending_ack = decltype(write(""));
  std::vector<pending_ack> pending;
  for (auto i = 0; i < 8; ++i) {
    const auto bytes =
      std::string(defaults::io_fragment_bytes / 2, static_cast<char>('a' + i));
    written += bytes;
    pending.emplace_back(write(bytes));
  }
  CAF_CHECK_EQUAL(answers(), 0u);
  CAF_CHECK(log->text.size() <= defaults::io_window * 3 / 4);
  while (!log->owed.empty()) {
    log->take();
    consume_messages();
  }
  for (auto& x : pending)
    get(x);
  CAF_CHECK(log->text == written);
  CAF_CHECK_EQUAL(held, 0u);
}

CAF_TEST(I18 a sink that ends releases the writer and is told of) {
  start(options());
  output_sink_actor handle;
  const auto log = add(9, false, {}, &handle);
  auto pending = write("abc");
  CAF_CHECK_EQUAL(answers(), 0u);
  end(handle, caf::exit_reason::kill);
  get(pending);
  CAF_CHECK_EQUAL(dropped, std::vector<uint64_t>{9});
  pass("def");
}

CAF_TEST(I18 a sink that refuses bytes is dropped) {
  start(options());
  const auto bad = add(1, false);
  const auto good = add(2);
  auto pending = write("abc");
  bad->take(status::unreach);
  consume_messages();
  get(pending);
  CAF_CHECK_EQUAL(dropped, std::vector<uint64_t>{1});
  pass("def");
  CAF_CHECK_EQUAL(bad->text, "abc");
  CAF_CHECK_EQUAL(good->text, "abcdef");
}

CAF_TEST(I8 I2 a sink leaves and comes back where it was) {
  start(options());
  const auto log = add(1, false);
  auto pending = write("abcdef");
  self->send(uut, io_unsubscription{1});
  consume_messages();
  get(pending);
  CAF_CHECK(dropped.empty());
  pass("ghi");
  // An answer of its former life counts for nothing.
  auto how = io_subscription{};
  how.start = io_start::offset;
  how.offset = 3;
  const auto again = add(1, false, how);
  auto late = write("jkl");
  log->take();
  consume_messages();
  CAF_CHECK_EQUAL(answers(), 0u);
  while (!again->owed.empty()) {
    again->take();
    consume_messages();
  }
  get(late);
  CAF_CHECK_EQUAL(again->text, "defghijkl");
}

CAF_TEST(two subscriptions of one sink end one by one) {
  start(options());
  output_sink_actor handle;
  const auto log = add(1, true, {}, &handle);
  self->send(uut, uint64_t{2}, io_subscription{}, handle);
  consume_messages();
  pass("ab");
  CAF_CHECK_EQUAL(log->text, "abab");
  self->send(uut, io_unsubscription{1});
  consume_messages();
  pass("cd");
  CAF_CHECK_EQUAL(log->text, "ababcd");
  end(handle);
  CAF_CHECK_EQUAL(dropped, std::vector<uint64_t>{2});
}

CAF_TEST(IO-3 I17 a channel is over when its sinks have everything) {
  start(options());
  const auto log = add(1, false);
  auto last = write("abc");
  auto over = self->request(uut, caf::infinite, io_job_over{"job"});
  consume_messages();
  CAF_CHECK_EQUAL(log->text, "abc.");
  CAF_CHECK_EQUAL(answers(), 0u);
  while (!log->owed.empty()) {
    log->take();
    consume_messages();
  }
  get(last);
  get(over);
}

CAF_TEST(IO-4 the end is answered when all have it) {
  start(options());
  const auto log = add(1, false);
  auto first = write("abc");
  auto end = write("");
  log->take();
  consume_messages();
  get(first);
  CAF_CHECK_EQUAL(answers(), 0u);
  log->take();
  consume_messages();
  get(end);
  CAF_CHECK_EQUAL(log->text, "abc.");
}

CAF_TEST(I4 a copy takes each byte once and answers when its sinks have it) {
  start(options());
  const auto log = add(1, false);
  auto x = io_fragment{};
  x.stream = {{"job", 7}, io_channels::stdout_};
  x.offset = 5;
  x.missed = 5;
  x.bytes = "abc";
  auto first = self->request(uut, caf::infinite, x);
  consume_messages();
  CAF_CHECK_EQUAL(answers(), 0u);
  log->take();
  consume_messages();
  get(first);
  auto again = self->request(uut, caf::infinite, x);
  consume_messages();
  get(again);
  x.offset = 8;
  x.bytes = "d";
  x.is_end = true;
  auto last = self->request(uut, caf::infinite, x);
  consume_messages();
  log->take();
  if (!log->owed.empty()) {
    consume_messages();
    log->take();
  }
  consume_messages();
  get(last);
  CAF_CHECK_EQUAL(log->text, "<5>abcd.");
}

CAF_TEST(IO-5 a copy fetches what a later sink wants without a seam) {
  auto how = options(4);
  const auto has = std::make_shared<std::string>("0123456789ab");
  how.elsewhere = sys.spawn(elsewhere, has);
  start(std::move(how));
  pass("0123456789ab");
  auto wants = io_subscription{};
  wants.start = io_start::offset;
  wants.offset = 1;
  const auto log = add(1, true, wants);
  CAF_CHECK_EQUAL(log->text, "123456789ab");
  // What nobody has any more is a gap.
  has->resize(6);
  const auto late = add(2, true, wants);
  CAF_CHECK_EQUAL(late->text, "12345<2>89ab");
  pass("c");
  CAF_CHECK_EQUAL(log->text, "123456789abc");
  CAF_CHECK_EQUAL(late->text, "12345<2>89abc");
}

CAF_TEST(I2 LIM14 a channel tells of its sinks and keeps less when told) {
  start(options());
  auto how = io_subscription{};
  how.name = "tool a";
  const auto log = add(1, true, how);
  pass("abcdef");
  self->send(uut, io_keep{2});
  consume_messages();
  CAF_CHECK_EQUAL(held, 2u);
  const auto x = request<io_stream_status>(uut, list_io{});
  CAF_CHECK_EQUAL(x.stream.source.rank, 7u);
  CAF_CHECK_EQUAL(x.begin, 4u);
  CAF_CHECK_EQUAL(x.end, 6u);
  CAF_CHECK(!x.is_over);
  CAF_REQUIRE_EQUAL(x.sinks.size(), 1u);
  CAF_CHECK_EQUAL(x.sinks[0].name, "tool a");
  CAF_CHECK_EQUAL(x.sinks[0].taken, 6u);
  const auto part = request<io_fragment>(uut, io_fetch{x.stream, 0, 10});
  CAF_CHECK_EQUAL(part.bytes, "ef");
  CAF_CHECK_EQUAL(part.missed, 4u);
}

CAF_TEST(a channel that is told to end answers whoever waits) {
  start(options());
  const auto log = add(1, false);
  auto pending = write("abc");
  end(uut);
  uut = nullptr;
  CAF_REQUIRE_EQUAL(answers(), 1u);
  auto code = status::success;
  pending.receive([](ack) {},
                  [&](const caf::error& x) { code = status_of(x); });
  CAF_CHECK(code == status::unreach);
  CAF_CHECK_EQUAL(held, 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
