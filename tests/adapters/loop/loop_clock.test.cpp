#include "adapters/loop/loop_clock.hpp"

#include "adapters/loop/loop_coordinator.hpp"
#include "adapters/loop/loop_system.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

using clock_type = caf::actor_clock::clock_type;

struct fixture {
  loop_system sys;
  std::vector<int> seen;
  loop_clock& clock =
    static_cast<loop_clock&>(sys.actors().scheduler().clock());

  /// An actor that notes the numbers it gets; -1 ends the run.
  caf::actor noter() {
    return sys.actors().spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](int x) {
        if (x == -1)
          sys.stop();
        else
          seen.push_back(x);
      }};
    });
  }

  void send_after(std::chrono::milliseconds delay, const caf::actor& to,
                  int x) {
    caf::delayed_anon_send(to, delay, x);
  }

  void send_at(clock_type::time_point t, const caf::actor& to, int x) {
    clock.schedule_message(
      t, caf::actor_cast<caf::strong_actor_ptr>(to),
      caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, x));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(loop_clock_tests, fixture)

CAF_TEST(delayed messages arrive in the order they are due) {
  const auto a = noter();
  const auto begin = clock_type::now();
  send_at(begin + 3ms, a, -1);
  send_at(begin + 2ms, a, 3);
  send_at(begin + 1ms, a, 2);
  send_at(begin, a, 1);
  sys.run();
  CAF_CHECK_EQUAL(seen, std::vector<int>({1, 2, 3}));
}

CAF_TEST(messages due at the same time arrive as they were sent) {
  const auto a = noter();
  const auto t = clock_type::now() + 5ms;
  std::vector<int> expected;
  for (auto i = 0; i < 1000; ++i) {
    send_at(t, a, i);
    expected.push_back(i);
  }
  send_at(t, a, -1);
  sys.run();
  CAF_CHECK_EQUAL(seen, expected);
}

CAF_TEST(nothing is sent early) {
  auto early = 0;
  auto left = 300;
  const auto a =
    sys.actors().spawn([&](caf::event_based_actor*) -> caf::behavior {
      return {[&](int64_t due) {
        if (clock_type::now().time_since_epoch().count() < due)
          ++early;
        if (--left == 0)
          sys.stop();
      }};
    });
  for (auto i = 0; i < left; ++i) {
    const auto t = clock_type::now() + std::chrono::nanoseconds{i * 99'991};
    clock.schedule_message(
      t, caf::actor_cast<caf::strong_actor_ptr>(a),
      caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                                int64_t{t.time_since_epoch().count()}));
  }
  sys.run();
  CAF_CHECK_EQUAL(early, 0);
}

CAF_TEST(ten thousand timers of as many actors all fire) {
  constexpr auto count = 10'000;
  auto fired = 0;
  for (auto i = 0; i < count; ++i)
    sys.actors().spawn([&, i](caf::event_based_actor* self) -> caf::behavior {
      self->delayed_send(self, std::chrono::microseconds{(i * 7) % 20'000}, i);
      return {[&, self](int) {
        self->quit();
        if (++fired == count)
          sys.stop();
      }};
    });
  sys.run();
  CAF_CHECK_EQUAL(fired, count);
  CAF_CHECK_EQUAL(clock.size(), 0u);
}

CAF_TEST(an idle actor gets its receive timeout) {
  auto timeouts = 0;
  sys.actors().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->send(self, 1);
    return {[](int) {}, caf::after(2ms) >>
                          [&, self] {
                            if (++timeouts == 3) {
                              self->quit();
                              sys.stop();
                            }
                          }};
  });
  sys.run();
  CAF_CHECK_EQUAL(timeouts, 3);
  CAF_CHECK_EQUAL(clock.size(), 0u); // Each replaced the one before.
}

CAF_TEST(timeouts can be cancelled) {
  const auto a = noter();
  auto* self = caf::actor_cast<caf::abstract_actor*>(a);
  const auto soon = clock_type::now() + 1ms;
  const auto request = caf::make_message_id(7).response_id();
  clock.set_ordinary_timeout(soon, self, caf::atom("a"), 1);
  clock.set_ordinary_timeout(soon, self, caf::atom("a"), 2); // Replaces.
  clock.set_ordinary_timeout(soon, self, caf::atom("b"), 1);
  clock.set_request_timeout(soon, self, request);
  CAF_CHECK_EQUAL(clock.size(), 3u);
  clock.cancel_request_timeout(self, request);
  clock.cancel_request_timeout(self, request); // Harmless.
  CAF_CHECK_EQUAL(clock.size(), 2u);
  clock.cancel_ordinary_timeout(self, caf::atom("a"));
  CAF_CHECK_EQUAL(clock.size(), 1u);
  clock.set_multi_timeout(soon, self, caf::atom("c"), 3);
  clock.set_multi_timeout(soon, self, caf::atom("c"), 4);
  CAF_CHECK_EQUAL(clock.size(), 3u);
  clock.cancel_timeouts(self);
  CAF_CHECK_EQUAL(clock.size(), 0u);
}

CAF_TEST(the end of an actor cancels its timeouts) {
  const auto b = noter();
  sys.actors().spawn([&, b](caf::event_based_actor* self) {
    self->request(b, 3600s, 1).then([](int) {}, [](const caf::error&) {});
    CAF_CHECK_EQUAL(clock.size(), 1u);
    self->quit();
    self->send(b, -1);
  });
  sys.run();
  CAF_CHECK_EQUAL(clock.size(), 0u);
}

CAF_TEST(a closed clock takes nothing and keeps no actor alive) {
  auto a = noter();
  send_after(3600s, a, 1);
  const auto weak = caf::actor_cast<caf::actor_addr>(a);
  a = nullptr;
  sys.actors().spawn([&](caf::event_based_actor*) { sys.stop(); });
  sys.run();
  CAF_CHECK(caf::actor_cast<caf::strong_actor_ptr>(weak) != nullptr);
  clock.close();
  CAF_CHECK(caf::actor_cast<caf::strong_actor_ptr>(weak) == nullptr);
  send_after(3600s, noter(), 1);
  CAF_CHECK_EQUAL(clock.size(), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
