// Output that a server sends: how much of it may be on its way, and how a
// program that does not take it holds it up.

#include "config/defaults.hpp"
#include "tests/adapters/link/scripted_server.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto piece = size_t{64} << 10;

std::string output_of(served_peer& x, size_t size) {
  auto what = io_delivery{};
  what.source = {"job", 2};
  what.channel = io_channels::stdout_;
  what.bytes.assign(size, 'x');
  auto payload = std::string{};
  CAF_REQUIRE(!wire::encode_output(what, x.rules, payload));
  return payload;
}

void grant(served_peer& x, uint64_t window) {
  auto payload = std::string{};
  wire::encode_output_credit(window, payload);
  x.send_frame(wire::tag_output_credit, payload);
}

} // namespace

CAF_TEST(I18 our servers hear how much output has been taken) {
  auto told = std::vector<uint64_t>{};
  auto greeted = std::string{};
  auto size = size_t{0};
  auto done = std::promise<void>{};
  scripted_server server{[&](served_peer& x) {
    greeted = x.welcome().version;
    grant(x, defaults::io_credit);
    const auto payload = output_of(x, piece);
    size = payload.size();
    for (auto i = 0; i < 4; ++i)
      x.send_frame(wire::tag_output, payload);
    for (auto got = x.frame(); got.first == wire::tag_output_credit;
         got = x.frame()) {
      const auto credit = wire::decode_output_credit(got.second);
      told.push_back(credit ? *credit : 0);
      if (told.size() == 4)
        done.set_value();
    }
  }};
  client self;
  self.keeps_receipts = true;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  CAF_REQUIRE(self.eventually([&] { return self.outputs.size() == 4; }));
  CAF_CHECK(self.uut->counts_output());
  // On any thread, in any order.
  auto receipts =
    self.on_loop([&] { return std::exchange(self.receipts, {}); });
  for (; !receipts.empty(); receipts.pop_back()) {
    const auto copy = receipts.back();
    receipts.back() = nullptr;
  }
  // What the server's thread has written before is seen from here on.
  done.get_future().get();
  CAF_CHECK(wire::is_own_library(greeted));
  CAF_CHECK(wire::can_share_memory(greeted));
  CAF_REQUIRE_EQUAL(told.size(), 4u);
  for (auto i = size_t{0}; i < 4; ++i)
    CAF_CHECK_EQUAL(told[i], (i + 1) * size);
}

CAF_TEST(I18 small output is not told piece by piece) {
  auto credits = 0;
  auto done = std::promise<void>{};
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    grant(x, defaults::io_credit);
    for (auto i = 0; i < 1000; ++i)
      x.send_frame(wire::tag_output, output_of(x, 1000));
    for (auto got = x.frame(); got.first != 99; got = x.frame()) {
      if (got.first == wire::tag_output_credit)
        ++credits;
      else
        x.reply(got.first, status::success);
    }
    done.set_value();
  }};
  {
    client self;
    CAF_REQUIRE(self.connect(server.settings()) == status::success);
    CAF_REQUIRE(self.eventually([&] { return self.outputs.size() == 1000; }));
    CAF_CHECK(self.uut->call(fence_request{{{"job", rank_wildcard}}, {}}));
  }
  done.get_future().get();
  CAF_CHECK(credits >= 14);
  CAF_CHECK(credits <= 17);
}

CAF_TEST(I18 of a server that does not count nothing is read beyond a bound) {
  auto sent = std::atomic<size_t>{0};
  constexpr auto n = size_t{1000}; // 64 MB
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    const auto payload = output_of(x, piece);
    for (; sent < n; ++sent)
      if (!x.send_frame(wire::tag_output, payload))
        return;
    x.frame();
  }};
  client self;
  self.keeps_receipts = true;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  CAF_CHECK(!self.uut->counts_output());
  auto before = size_t{0};
  auto passes = 0;
  CAF_REQUIRE(self.eventually([&] {
    if (std::exchange(before, self.outputs.size()) != self.outputs.size())
      passes = 0;
    // As much comes as may be held, and then nothing more.
    const auto is_full = before * piece >= defaults::io_held_output - piece;
    return is_full && ++passes > 300;
  }));
  const auto held = before * piece;
  CAF_CHECK(held <= defaults::io_held_output + 8 * piece);
  // Taken, all of it comes.
  CAF_REQUIRE(self.eventually([&] {
    self.receipts.clear();
    return self.outputs.size() == n;
  }));
}

CAF_TEST(I18 whoever waits for an answer gets it behind output nobody takes) {
  constexpr auto n = size_t{66}; // Slightly more than is held.
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    const auto payload = output_of(x, piece);
    const auto request = x.frame();
    for (auto i = size_t{0}; i < n; ++i)
      x.send_frame(wire::tag_output, payload);
    x.reply(request.first, status::success);
    x.frame();
  }};
  client self;
  self.keeps_receipts = true;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  CAF_CHECK(self.uut->call(fence_request{{{"job", rank_wildcard}}, {}}));
  CAF_CHECK_EQUAL(self.on_loop([&] { return self.outputs.size(); }), n);
}

CAF_TEST(I18 a server that tells us to stop is heard) {
  scripted_server server{[&](served_peer& x) {
    x.welcome();
    auto what = wire::flow_control{{"job", 3}, io_channels::stdin_, true, {}};
    auto payload = std::string{};
    CAF_REQUIRE(!wire::encode_flow_control(what, x.rules, payload));
    x.send_frame(wire::tag_flow_control, payload);
    x.send_frame(wire::tag_flow_control, payload.substr(0, 5));
    x.send_frame(wire::tag_output_credit, "short");
    x.frame();
  }};
  client self;
  CAF_REQUIRE(self.connect(server.settings()) == status::success);
  CAF_REQUIRE(self.eventually([&] { return self.garbled == 2; }));
  self.on_loop([&] {
    CAF_REQUIRE_EQUAL(self.controls.size(), 1u);
    CAF_CHECK(self.controls.front().is_stop);
    CAF_CHECK(self.controls.front().source == (proc_id{"job", 3}));
    return 0;
  });
}
