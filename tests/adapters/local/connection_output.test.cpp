// Output for a peer, and input from it: order, answers, and what is bounded.

#include "adapters/local/connection_output.hpp"

#include "adapters/local/local_limits.hpp"
#include "adapters/wire/pushes.hpp"
#include "config/defaults.hpp"
#include "tests/adapters/local/world.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto piece = size_t{64} << 10;

/// What became of deliveries, in the order in which they were answered.
struct answers {
  std::vector<size_t> taken;
  std::vector<status> failed;
};

/// Sends deliveries and notes what becomes of them. On the thread of the loop.
void deliver(world& uut, answers& result, size_t n, size_t size = piece) {
  const auto to = uut.play.connections.front();
  uut.sys.actors().spawn([&result, to, n, size](caf::event_based_actor* self) {
    for (auto i = size_t{0}; i < n; ++i) {
      auto x = io_delivery{};
      x.source = {"job", 1};
      x.channel = io_channels::stdout_;
      x.bytes.assign(size, static_cast<char>('a' + i % 26));
      self->request(to, caf::infinite, std::move(x))
        .then([&result, i](ack) { result.taken.push_back(i); },
              [&result](const caf::error& err) {
                result.failed.push_back(status_of(err));
              });
    }
  });
}

/// A peer of ours, with what it is granted at the beginning.
std::unique_ptr<peer> served_as(world& uut, const std::string& version) {
  auto x = greeting();
  x.version = version;
  auto result = std::make_unique<peer>(uut.port());
  result->send(bytes_of(x));
  CAF_REQUIRE_EQUAL(result->receive(8).size(), 8u);
  return result;
}

std::string credit(uint64_t bytes) {
  auto payload = std::string{};
  auto result = std::string{};
  wire::encode_output_credit(bytes, payload);
  CAF_REQUIRE(!wire::append_frame(result, wire::tag_output_credit, payload));
  return result;
}

/// The next output; its payload's size is added to `total`.
std::string output(peer& from, uint64_t& total) {
  const auto [tag, payload] = from.frame();
  CAF_REQUIRE_EQUAL(tag, wire::tag_output);
  total += payload.size();
  const auto x = wire::decode_output(payload, dialect());
  CAF_REQUIRE(x);
  return x->bytes;
}

size_t taken(world& uut, const answers& x) {
  return uut.on_loop([&] { return x.taken.size(); });
}

/// Waits until some are taken, `at_least` so many, and nothing more for a while.
size_t taken_at_last(world& uut, const answers& x, size_t at_least = 1) {
  auto before = size_t{0};
  auto passes = 0;
  CAF_REQUIRE(uut.eventually([&] {
    if (std::exchange(before, x.taken.size()) != x.taken.size()
        || before < at_least)
      passes = 0;
    return ++passes > 300;
  }));
  return before;
}

} // namespace

// -- output ------------------------------------------------------------------

CAF_TEST(I18 output is answered once the socket has taken it and in order) {
  answers result;
  world uut;
  const auto client = uut.served();
  constexpr auto n = size_t{500}; // 32 MB: more than the kernel keeps.
  uut.on_loop([&] {
    deliver(uut, result, n);
    return 0;
  });
  const auto kept = taken_at_last(uut, result);
  CAF_CHECK(kept > 0);
  CAF_CHECK(kept < n);
  auto total = uint64_t{0};
  for (auto i = size_t{0}; i < n; ++i)
    CAF_REQUIRE(output(*client, total)
                == std::string(piece, static_cast<char>('a' + i % 26)));
  CAF_REQUIRE(uut.eventually([&] { return result.taken.size() == n; }));
  uut.on_loop([&] {
    for (auto i = size_t{0}; i < n; ++i)
      CAF_CHECK_EQUAL(result.taken[i], i);
    CAF_CHECK(result.failed.empty());
    return 0;
  });
}

CAF_TEST(I18 events and answers go past output that waits) {
  answers result;
  world uut;
  const auto client = uut.served();
  constexpr auto n = size_t{500};
  uut.on_loop([&] {
    deliver(uut, result, n);
    return 0;
  });
  taken_at_last(uut, result);
  uut.on_loop([&] {
    auto x = troupe::event{};
    x.code = status::lost_connection;
    caf::anon_send(uut.play.connections.front(), batch_of(x));
    return 0;
  });
  auto before = size_t{0};
  for (;; ++before) {
    const auto tag = client->frame().first;
    if (tag == wire::tag_event)
      break;
    CAF_REQUIRE_EQUAL(tag, wire::tag_output);
  }
  CAF_MESSAGE("the event came after " << before << " of " << n << " outputs");
  CAF_CHECK(before < n - 10);
}

CAF_TEST(I9 output that the socket has not taken is refused when it is lost) {
  answers result;
  world uut;
  const auto client = uut.served();
  constexpr auto n = size_t{500};
  uut.on_loop([&] {
    deliver(uut, result, n);
    return 0;
  });
  const auto kept = taken_at_last(uut, result);
  client->close();
  CAF_REQUIRE(uut.eventually(
    [&] { return result.taken.size() + result.failed.size() == n; }));
  uut.on_loop([&] {
    CAF_CHECK(result.taken.size() >= kept);
    CAF_CHECK(!result.failed.empty());
    for (const auto x : result.failed)
      CAF_CHECK(x == status::lost_connection);
    return 0;
  });
}

// -- peers that count --------------------------------------------------------

CAF_TEST(I18 a library of ours gets no more than its program takes) {
  answers result;
  world uut;
  const auto client = served_as(uut, "4.2.2troupe");
  const auto [tag, payload] = client->frame();
  CAF_REQUIRE_EQUAL(tag, wire::tag_output_credit);
  const auto window = wire::decode_output_credit(payload);
  CAF_REQUIRE(window && *window == defaults::io_credit);
  constexpr auto n = size_t{100};
  uut.on_loop([&] {
    deliver(uut, result, n);
    return 0;
  });
  const auto at_once = taken_at_last(uut, result, *window / piece);
  CAF_CHECK_EQUAL(at_once, *window / piece);
  auto total = uint64_t{0};
  for (auto i = size_t{0}; i < at_once; ++i)
    output(*client, total);
  // Answers still come.
  CAF_CHECK(client->ask(101, commit_request{}));
  CAF_CHECK_EQUAL(taken(uut, result), at_once);
  for (auto i = at_once; i < n; ++i) {
    client->send(credit(total));
    CAF_REQUIRE_EQUAL(output(*client, total).front(),
                      static_cast<char>('a' + i % 26));
  }
  CAF_CHECK(uut.eventually([&] { return result.taken.size() == n; }));
  CAF_CHECK_EQUAL(uut.statistics().violations, 0u);
}

CAF_TEST(X15 a peer that takes output which it was not sent is cut off) {
  for (const auto& bad : {credit(1), credit(UINT64_MAX)}) {
    world uut;
    const auto client = served_as(uut, "4.2.2troupe");
    client->send(bad);
    CAF_CHECK(client->is_closed_at_last());
    CAF_CHECK(uut.logged("of output; it was sent 0"));
  }
  world uut;
  auto short_one = std::string{};
  CAF_REQUIRE(!wire::append_frame(short_one, wire::tag_output_credit, "1234"));
  const auto client = served_as(uut, "4.2.2troupe");
  client->send(short_one);
  CAF_CHECK(client->is_closed_at_last());
  // Others do not know that message.
  const auto other = served_as(uut, "4.2.2");
  other->send(credit(0));
  CAF_CHECK(other->is_closed_at_last());
  CAF_CHECK_EQUAL(uut.statistics().violations, 2u);
}

// -- input -------------------------------------------------------------------

CAF_TEST(I18 whoever pushes without waiting is not read beyond the bound) {
  // Edge case 202: libraries of 4.2 push their standard input like this.
  world uut;
  const auto client = uut.served();
  uut.on_loop([&] { return uut.play.holds_requests = true; });
  constexpr auto n = uint32_t{20000};
  auto sender = std::thread{[&] {
    auto bytes = std::string{};
    for (auto i = uint32_t{0}; i < n; ++i)
      bytes += bytes_of(
        101 + i, io_push_request{{{"job", 0}},
                                 {},
                                 std::to_string(i) + std::string(2000, '.')});
    client->send(bytes);
  }};
  const auto limit = defaults::io_unanswered_pushes;
  CAF_REQUIRE(uut.eventually([&] { return uut.play.pushes.size() >= limit; }));
  // Somebody else is served as if nothing were.
  CAF_CHECK(uut.served()->ask(101, commit_request{}));
  CAF_CHECK_EQUAL(uut.on_loop([&] { return uut.play.pushes.size(); }), limit);
  uut.on_loop([&] {
    uut.play.holds_requests = false;
    for (auto& x : uut.play.held_requests)
      x.deliver(ack{});
    uut.play.held_requests.clear();
    return 0;
  });
  for (auto i = uint32_t{0}; i < n; ++i)
    CAF_REQUIRE_EQUAL(client->frame().first, 101 + i);
  sender.join();
  uut.on_loop([&] {
    CAF_REQUIRE_EQUAL(uut.play.pushes.size(), size_t{n});
    for (auto i = size_t{0}; i < n; ++i)
      CAF_CHECK_EQUAL(*uut.play.pushes[i].bytes,
                      std::to_string(i) + std::string(2000, '.'));
    return 0;
  });
}

CAF_TEST(I6 input without bytes is its end however that is written) {
  world uut;
  const auto client = uut.served();
  CAF_CHECK(client->ask(101, io_push_request{{{"job", 0}}, {}, "x"}));
  CAF_CHECK(client->ask(102, io_push_request{{{"job", 0}}, {}, ""}));
  CAF_CHECK(client->ask(103, io_push_request{{{"job", 0}}, {}, {}}));
  uut.on_loop([&] {
    CAF_REQUIRE_EQUAL(uut.play.pushes.size(), 3u);
    CAF_CHECK(uut.play.pushes[0].bytes == "x");
    CAF_CHECK(!uut.play.pushes[1].bytes);
    CAF_CHECK(!uut.play.pushes[2].bytes);
    return 0;
  });
}

CAF_TEST(I18 a library that knows flow control is told to stop and to go on) {
  world uut;
  auto x = greeting();
  x.version = "7.0.0";
  const auto rules = wire::dialect_of(x);
  const auto client = served_as(uut, x.version);
  uut.on_loop([&] { return uut.play.holds_requests = true; });
  for (auto i = uint32_t{0}; i < 40; ++i)
    client->send(
      bytes_of(101 + i, io_push_request{{{"job", 0}}, {}, "some input"}));
  const auto control = [&](bool is_stop) {
    auto got = client->frame();
    while (got.first >= wire::tag_first_request && got.first < 150)
      got = client->frame();
    CAF_REQUIRE_EQUAL(got.first, wire::tag_flow_control);
    const auto what = wire::decode_flow_control(got.second, rules);
    CAF_REQUIRE(what);
    CAF_CHECK_EQUAL(what->is_stop, is_stop);
    CAF_CHECK(what->source == (proc_id{"job", 0}));
    CAF_CHECK(what->channel == io_channels::stdin_);
  };
  control(true);
  CAF_REQUIRE(uut.eventually([&] { return uut.play.pushes.size() == 40; }));
  uut.on_loop([&] {
    for (auto& y : uut.play.held_requests)
      y.deliver(ack{});
    uut.play.held_requests.clear();
    return 0;
  });
  control(false);
}

// -- the rules alone ---------------------------------------------------------

namespace {

connection_output::piece piece_of(size_t size) {
  auto result = connection_output::piece{};
  result.what.bytes.assign(size, 'x');
  return result;
}

/// Writes all that the peer may have, each with a header of 10 bytes.
size_t write_all(connection_output& uut, uint64_t& end) {
  auto result = size_t{0};
  for (; auto x = uut.next(); ++result) {
    end += 10 + x->what.bytes.size();
    uut.wrote(std::move(x->owed), end, x->what.bytes.size());
  }
  return result;
}

} // namespace

CAF_TEST(I18 output waits in order and its bytes are counted) {
  connection_output uut;
  CAF_CHECK(!uut.next());
  for (const auto size : {5, 7, 11})
    uut.add(piece_of(size));
  CAF_CHECK_EQUAL(uut.waiting(), 23u);
  CAF_CHECK_EQUAL(uut.next()->what.bytes.size(), 5u);
  CAF_CHECK_EQUAL(uut.waiting(), 18u);
  uut.forget_waiting();
  CAF_CHECK_EQUAL(uut.waiting(), 0u);
  CAF_CHECK(!uut.next());
}

CAF_TEST(I18 a peer that counts has no more than the credit on its way) {
  struct row {
    bool counts;
    uint64_t taken;
    size_t written;
  };
  constexpr auto size = defaults::io_credit / 4;
  const row rows[] = {
    {false, 0, 12}, {true, 0, 4}, {true, size, 5}, {true, 4 * size, 8}};
  for (const auto& x : rows) {
    connection_output uut;
    auto end = uint64_t{0};
    for (auto i = 0; i < 12; ++i)
      uut.add(piece_of(size));
    if (x.counts)
      uut.count();
    auto written = write_all(uut, end);
    CAF_CHECK(uut.take_credit(x.taken));
    written += write_all(uut, end);
    CAF_CHECK_EQUAL(written, x.written);
    CAF_CHECK_EQUAL(uut.written(), x.written * size);
  }
}

CAF_TEST(X15 credit neither exceeds what was written nor goes back) {
  connection_output uut;
  uut.wrote({}, 110, 100);
  CAF_CHECK(!uut.take_credit(101));
  CAF_CHECK(uut.take_credit(60));
  CAF_CHECK(!uut.take_credit(59));
  CAF_CHECK(uut.take_credit(60));
  CAF_CHECK(uut.take_credit(100));
}

CAF_TEST(events are news once they have been taken and only once) {
  connection_output uut;
  CAF_CHECK(!uut.news_of_events());
  for (const auto end : {10, 20, 20, 30})
    uut.wrote_event(end);
  uut.note_sent(9);
  CAF_CHECK(!uut.news_of_events());
  uut.note_sent(20);
  CAF_CHECK_EQUAL(uut.news_of_events().value_or(0), 3u);
  CAF_CHECK(!uut.news_of_events());
  uut.note_sent(30);
  CAF_CHECK_EQUAL(uut.news_of_events().value_or(0), 4u);
}
