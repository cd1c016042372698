#include "adapters/networks/frame_lane.hpp"

#include "adapters/lane/lane_connector.hpp"
#include "adapters/lane/lane_listener.hpp"
#include "tests/adapters/lane/nodes.hpp"
#include "tests/adapters/networks/frames.hpp"

#include <algorithm>
#include <chrono>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// Two ends of a lane over TCP and TLS, on one loop.
struct lane_pair {
  /// One end, and who is called how deep.
  struct end {
    end(event_loop& loop, secure_channel channel, lane_pair& parent)
      : lane(loop, std::move(channel), {},
             {[this, &parent](lane_frame&& x) {
                parent.deepest = std::max(parent.deepest, ++parent.depth);
                frames.push_back(std::move(x));
                if (on_frame)
                  on_frame();
                --parent.depth;
              },
              [this](const std::string& why) { ended = why; }}) {
      // nop
    }

    std::vector<lane_frame> frames;
    std::function<void()> on_frame;
    std::optional<std::string> ended;
    frame_lane lane;
  };

  lane_pair() {
    lane_listener_options options;
    options.networks = {{"127.0.0.1", {}}};
    options.on_lane = [this](secure_channel x, size_t) {
      two = std::make_unique<end>(loop, std::move(x), *this);
    };
    auto door = value_of(
      lane_listener::start(loop, context_of(issuer, 2), std::move(options)));
    const auto mine = context_of(issuer, 1);
    lane_connector dial{
      loop,
      *mine,
      {{"127.0.0.1", {}}, "127.0.0.1", door->addresses().front().port},
      node(2),
      {},
      [this](caf::expected<secure_channel> x) {
        one = std::make_unique<end>(loop, value_of(std::move(x)), *this);
      }};
    if (!run_until(loop, [&] { return one && two; }))
      CAF_FAIL("no lane");
    one->lane.resume();
    two->lane.resume();
  }

  event_loop loop;
  authority issuer = value_of(authority::make("dvm"));
  size_t depth = 0;
  size_t deepest = 0;
  std::unique_ptr<end> one;
  std::unique_ptr<end> two;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(frame_lane_tests, lane_pair)

CAF_TEST(O1 who puts a frame while it takes one is not called within the call) {
  constexpr size_t rounds = 1000;
  for (auto* x : {one.get(), two.get()})
    x->on_frame = [x] {
      const auto before = x->frames.size();
      if (before < rounds)
        x->lane.put(some_data(before, "again"));
      CAF_CHECK_EQUAL(x->frames.size(), before);
    };
  one->lane.put(some_data(0, "first"));
  CAF_CHECK(run_until(loop, [&] { return two->frames.size() == rounds; }));
  CAF_CHECK_EQUAL(deepest, 1u);
}

CAF_TEST(O1 a lane may be closed while it takes a frame) {
  two->on_frame = [this] { two->lane.close(500ms); };
  for (auto n = 0; n < 3; ++n)
    one->lane.put(some_data(1, "x"));
  CAF_CHECK(run_until(loop, [&] { return one->ended.has_value(); }));
  CAF_CHECK_EQUAL(two->frames.size(), 1u);
  CAF_CHECK_EQUAL(*one->ended, "closed by the peer");
  CAF_CHECK_EQUAL(deepest, 1u);
}

CAF_TEST(O1 messages of other classes overtake streams) {
  auto sent = std::vector<lane_frame>{};
  for (uint64_t n = 0; n < 40; ++n) {
    sent.push_back(some_data(n, std::string(60000, 'x')));
    one->lane.put(sent.back());
  }
  auto urgent = std::get<data_frame>(some_data(1, "urgent"));
  urgent.of = traffic_class::collectives;
  one->lane.put(urgent);
  one->lane.put(ack_frame{5, some_acknowledgement(4)});
  auto& got = two->frames;
  CAF_CHECK(run_until(loop, [&] { return got.size() == sent.size() + 2; }));
  const auto is_one_of_two = [&](const lane_frame& x) {
    return is_same(x, urgent) || std::holds_alternative<ack_frame>(x);
  };
  // Behind no more than has left before they were put, or with them.
  for (size_t i = 0; i < 3; ++i)
    CAF_CHECK(is_one_of_two(got[i]) || is_same(got[i], sent[0]));
  got.erase(std::remove_if(got.begin(), got.end(), is_one_of_two), got.end());
  CAF_REQUIRE_EQUAL(got.size(), sent.size());
  for (size_t i = 0; i < sent.size(); ++i)
    CAF_CHECK(is_same(got[i], sent[i]));
}

CAF_TEST(collectives are urgent beside what processes of the node write) {
  const auto begin = std::chrono::steady_clock::now();
  auto message = std::get<data_frame>(some_data(1, "x"));
  message.of = traffic_class::control;
  one->lane.put(message);
  CAF_CHECK(!loop.pace().is_urgent(begin));
  message.of = traffic_class::collectives;
  one->lane.put(message);
  CAF_CHECK(loop.pace().is_urgent(begin));
}

CAF_TEST(O1 a probe comes behind all messages that were put before it) {
  auto urgent = std::get<data_frame>(some_data(1, "urgent"));
  urgent.of = traffic_class::control;
  for (uint64_t n = 0; n < 10; ++n)
    one->lane.put(some_data(n, std::string(60000, 'x')));
  one->lane.put(urgent);
  one->lane.put(probe_frame{6, 77, false, some_acknowledgement(0)});
  one->lane.put(some_data(10, "behind"));
  auto& got = two->frames;
  CAF_REQUIRE(run_until(loop, [&] { return got.size() == 13; }));
  CAF_CHECK(std::holds_alternative<probe_frame>(got[11]));
}

CAF_TEST(O1 the answer to a probe overtakes streams) {
  for (uint64_t n = 0; n < 10; ++n)
    one->lane.put(some_data(n, std::string(60000, 'x')));
  one->lane.put(probe_frame{6, 77, true, some_acknowledgement(0)});
  auto& got = two->frames;
  CAF_REQUIRE(run_until(loop, [&] { return got.size() == 11; }));
  CAF_CHECK(std::holds_alternative<probe_frame>(got[0])
            || std::holds_alternative<probe_frame>(got[1]));
}

CAF_TEST(O1 streams have their turn beside what never leaves the queue empty) {
  auto urgent = std::get<data_frame>(some_data(1, std::string(60000, 'u')));
  urgent.of = traffic_class::control;
  constexpr size_t streams = 20;
  for (uint64_t n = 0; n < streams; ++n)
    one->lane.put(some_data(n, std::string(20000, 'x')));
  // More than the kernel takes: the queue grows with all that comes.
  size_t urgent_sent = 0;
  const auto flood = [&](size_t most) {
    for (size_t n = 0; n < most; ++n, ++urgent_sent)
      one->lane.put(urgent);
  };
  flood(300);
  two->on_frame = [&] { flood(1); };
  auto& got = two->frames;
  const auto is_stream = [](const lane_frame& x) {
    const auto* data = std::get_if<data_frame>(&x);
    return data != nullptr && data->of == traffic_class::io;
  };
  CAF_CHECK(run_until(loop, [&] {
    return std::count_if(got.begin(), got.end(), is_stream)
           == static_cast<long>(streams);
  }));
  CAF_CHECK(urgent_sent >= 300 + streams);
}

CAF_TEST(O1 nothing overtakes a hello that says whose it is) {
  auto urgent = std::get<data_frame>(some_data(1, "urgent"));
  urgent.of = traffic_class::control;
  for (uint64_t n = 0; n < 10; ++n)
    one->lane.put(some_data(n, std::string(60000, 'x')));
  one->lane.put(hello_frame{});
  one->lane.put(urgent);
  one->lane.put(hello_frame{});
  auto& got = two->frames;
  CAF_REQUIRE(run_until(loop, [&] { return got.size() == 13; }));
  CAF_CHECK(std::holds_alternative<hello_frame>(got[10]));
  CAF_CHECK(is_same(got[11], urgent));
  CAF_CHECK(std::holds_alternative<hello_frame>(got[12]));
}

CAF_TEST(O1 a lane that is closed sends the streams that wait) {
  for (uint64_t n = 0; n < 10; ++n)
    one->lane.put(some_data(n, std::string(60000, 'x')));
  one->lane.close(5s);
  CAF_CHECK(run_until(loop, [&] { return two->ended.has_value(); }));
  CAF_CHECK_EQUAL(two->frames.size(), 10u);
}

CAF_TEST_FIXTURE_SCOPE_END()
