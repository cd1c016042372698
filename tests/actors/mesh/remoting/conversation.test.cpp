#include "actors/mesh/remoting/conversation.hpp"

#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Two sides and what is on its way between them.
struct two_sides {
  struct side {
    std::deque<std::string> out;
    std::vector<uint64_t> heard;
    std::vector<std::string> ends;
    std::unique_ptr<conversation> talk;
  };

  side sides[2];
  conversation::time_point now{1h};

  two_sides() {
    for (auto& x : sides) {
      auto out = conversation::effects{};
      out.send = [&x](std::shared_ptr<const std::string> bytes) {
        x.out.push_back(*bytes);
      };
      out.take = [&x](gateway_frame& frame) {
        x.heard.push_back(std::get<release_frame>(frame).id);
      };
      out.end = [&x](const std::string& why) { x.ends.push_back(why); };
      x.talk = std::make_unique<conversation>(1000, std::move(out));
    }
  }

  void say(int who, uint64_t what) {
    sides[who].talk->put(release_frame{what, 1});
    sides[who].talk->flush(now);
  }

  /// Brings one bundle.
  void bring(int from) {
    auto& out = sides[from].out;
    const auto bytes = out.front();
    out.pop_front();
    sides[1 - from].talk->take(bytes, now);
  }

  void run() {
    for (size_t n = 0; !sides[0].out.empty() || !sides[1].out.empty(); ++n) {
      CAF_REQUIRE(n < 10000);
      for (auto i : {0, 1})
        if (!sides[i].out.empty())
          bring(i);
    }
  }
};

using numbers = std::vector<uint64_t>;

} // namespace

CAF_TEST_FIXTURE_SCOPE(conversation_tests, two_sides)

CAF_TEST(ACT-13 nothing is said before the other side has greeted) {
  say(0, 1);
  say(0, 2);
  CAF_CHECK_EQUAL(sides[0].out.size(), 1u);
  bring(0);
  CAF_CHECK(sides[1].heard.empty());
  run();
  CAF_CHECK_EQUAL(sides[1].heard, (numbers{1, 2}));
  say(1, 3);
  run();
  CAF_CHECK_EQUAL(sides[0].heard, numbers{3});
  CAF_CHECK(sides[0].ends.empty() && sides[1].ends.empty());
}

CAF_TEST(ACT-13 both sides may begin at once) {
  say(0, 1);
  say(1, 2);
  run();
  CAF_CHECK_EQUAL(sides[1].heard, numbers{1});
  CAF_CHECK_EQUAL(sides[0].heard, numbers{2});
  CAF_CHECK(sides[0].ends.empty() && sides[1].ends.empty());
}

CAF_TEST(ACT-13 frames of one pass go as one bundle) {
  say(0, 0);
  run();
  for (uint64_t i = 1; i <= 50; ++i)
    sides[0].talk->put(release_frame{i, 1});
  CAF_CHECK(sides[0].out.empty());
  sides[0].talk->flush(now);
  CAF_CHECK_EQUAL(sides[0].out.size(), 1u);
  run();
  CAF_CHECK_EQUAL(sides[1].heard.size(), 51u);
}

CAF_TEST(ACT-13 a lost bundle ends the conversation once on each side) {
  say(0, 1);
  say(1, 2);
  run();
  say(0, 3);
  sides[0].out.clear();
  say(0, 4);
  say(1, 5);
  run();
  CAF_CHECK_EQUAL(sides[0].ends.size(), 1u);
  CAF_CHECK_EQUAL(sides[1].ends.size(), 1u);
  CAF_CHECK_EQUAL(sides[1].heard, numbers{1});
  say(0, 6);
  say(1, 7);
  run();
  CAF_CHECK_EQUAL(sides[1].heard, (numbers{1, 6}));
  CAF_CHECK_EQUAL(sides[0].heard.back(), 7u);
  CAF_CHECK_EQUAL(sides[0].ends.size(), 1u);
}

CAF_TEST(ACT-13 a greeting that is lost is said again when there is cause) {
  say(0, 1);
  sides[0].out.clear();
  say(0, 2);
  CAF_CHECK(sides[0].talk->is_greeting());
  now += defaults::gateway_greeting_wait;
  sides[0].talk->tick(now);
  CAF_CHECK_EQUAL(sides[0].ends.size(), 1u);
  CAF_CHECK_EQUAL(sides[0].talk->waiting(), 0u);
  // Somebody may wait there for what was dropped here.
  CAF_CHECK(sides[0].talk->is_greeting());
  for (size_t i = 0; i < 2 * defaults::gateway_greetings; ++i) {
    sides[0].out.clear();
    now += defaults::gateway_greeting_wait;
    sides[0].talk->tick(now);
  }
  CAF_CHECK(!sides[0].talk->is_greeting());
  say(0, 3);
  run();
  CAF_CHECK_EQUAL(sides[1].heard, numbers{3});
}

CAF_TEST(ACT-13 a side that has forgotten the conversation says so) {
  say(0, 1);
  say(1, 1);
  run();
  // It breaks off, and its greeting is lost.
  say(0, 2);
  sides[0].out.clear();
  say(0, 3);
  bring(0);
  sides[1].out.clear();
  say(0, 4);
  run();
  CAF_CHECK(sides[0].ends.empty());
  now += defaults::gateway_greeting_wait;
  sides[1].talk->tick(now);
  run();
  CAF_CHECK_EQUAL(sides[0].ends.size(), 1u);
  say(0, 5);
  run();
  CAF_CHECK_EQUAL(sides[1].heard, (numbers{1, 5}));
}

CAF_TEST(ACT-10 no more is on its way than the other side has taken) {
  say(0, 0);
  run();
  for (uint64_t i = 1; i <= 200; ++i)
    say(0, i);
  auto size = size_t{0};
  for (const auto& x : sides[0].out)
    size += x.size();
  CAF_CHECK(size <= 1000);
  CAF_CHECK(sides[0].talk->waiting() > 1000);
  run();
  CAF_CHECK_EQUAL(sides[0].talk->waiting(), 0u);
  CAF_CHECK_EQUAL(sides[1].heard.size(), 201u);
}

CAF_TEST(ACT-8 a bundle that makes no sense ends the conversation) {
  say(0, 1);
  run();
  for (const auto& bytes :
       {std::string{}, std::string(100, '\0'), std::string(100, '\x40')}) {
    const auto before = sides[1].ends.size();
    sides[1].talk->take(bytes, now);
    CAF_CHECK_EQUAL(sides[1].ends.size(), before + 1);
    run();
  }
  // A frame that does not exist, behind one that does.
  say(0, 2);
  run();
  say(0, 3);
  sides[0].out.back() += '\x7f';
  const auto before = sides[1].ends.size();
  run();
  CAF_CHECK_EQUAL(sides[1].ends.size(), before + 1);
  CAF_CHECK_EQUAL(sides[1].heard.back(), 3u);
}

CAF_TEST(ACT-13 another version is refused) {
  auto bytes = std::string{};
  begin_bundle(bytes);
  append_frame(bytes, greeting_frame{gateway_version + 1, 5, 0});
  put_header(bytes, {5, 0, 0});
  say(0, 1);
  sides[0].talk->take(bytes, now);
  CAF_CHECK_EQUAL(sides[0].ends.size(), 1u);
  CAF_CHECK(sides[1].heard.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
