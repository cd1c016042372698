#include "runtime/remoting.hpp"

#include "runtime/foreign_system.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/fixtures/three_daemons.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <atomic>
#include <thread>

using namespace troupe;
using namespace troupe::fixtures;
using namespace remoting_test;
using namespace std::chrono_literals;

namespace {

adder::behavior_type adding(adder::pointer self) {
  return {
    [](int32_t a, int32_t b) { return a + b; },
    [self](const caf::actor& ask, int32_t x) {
      self->delegate(ask, x);
      return caf::delegated<int32_t>{};
    },
  };
}

caf::behavior doubling() {
  return {[](int32_t x) { return 2 * x; }};
}

/// Answers nothing.
caf::behavior silent(caf::event_based_actor* self) {
  auto kept = std::make_shared<std::vector<caf::response_promise>>();
  return {[=](int32_t) {
    kept->push_back(self->make_response_promise());
    return caf::delegated<int32_t>{};
  }};
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(remoting_runtime_tests, three_daemons)

CAF_TEST(ACT-1 ACT-2 ACT-5 actors of three members of a DVM talk) {
  auto& there = *nodes[2].loop;
  nodes[2].remote->publish(there.actors().spawn(adding), "adder");
  nodes[1].remote->publish(nodes[1].loop->actors().spawn(doubling), "double");
  const auto far = find<adder>(0, 2, "adder");
  const auto twice = find<caf::actor>(0, 1, "double");
  CAF_CHECK_EQUAL(rank_of(far->node()), 2u);
  auto me = caf::scoped_actor{nodes[0].loop->actors()};
  const auto check = [&](int32_t expected, auto... xs) {
    me->request(far, long_enough, xs...)
      .receive([&](int32_t x) { CAF_CHECK_EQUAL(x, expected); },
               [](caf::error& e) { CAF_FAIL(reason_of(e)); });
  };
  for (int32_t i = 0; i < 200; ++i)
    check(i + 1, i, int32_t{1});
  // Node 2 has node 1 answer node 0.
  check(42, twice, int32_t{21});
  CAF_CHECK_EQUAL(nodes[0].remote->remote_lookup<weather>(2, "adder").error(),
                  caf::sec::unexpected_actor_messaging_interface);
}

CAF_TEST(ACT-12 blocking detached and foreign senders get their answers) {
  nodes[1].remote->publish(nodes[1].loop->actors().spawn(adding), "adder");
  const auto far = find<adder>(0, 1, "adder");
  auto& here = nodes[0].loop->actors();
  auto answered = std::atomic<int>{0};
  auto threads = std::vector<std::thread>{};
  for (int32_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      auto me = caf::scoped_actor{here};
      for (int32_t i = 0; i < 300; ++i)
        me->request(far, long_enough, t, i)
          .receive([&](int32_t x) { answered += x == t + i ? 1 : 0; },
                   [](caf::error&) {});
    });
  const auto detached =
    here.spawn<caf::detached>([&](caf::event_based_actor* self) {
      for (int32_t i = 0; i < 300; ++i)
        self->request(far, long_enough, i, int32_t{1}).then([&, i](int32_t x) {
          answered += x == i + 1 ? 1 : 0;
        });
    });
  for (auto& x : threads)
    x.join();
  auto me = caf::scoped_actor{here};
  me->wait_for(detached);
  CAF_CHECK_EQUAL(answered.load(), 1200);
}

CAF_TEST(ACT-3 ACT-4 each of ten thousand requests ends when a node leaves) {
  nodes[2].remote->publish(nodes[2].loop->actors().spawn(silent), "silent");
  const auto far = find<caf::actor>(0, 2, "silent");
  auto me = caf::scoped_actor{nodes[0].loop->actors()};
  me->monitor(far);
  constexpr size_t requests = 10000;
  auto ended = std::make_shared<size_t>(0);
  const auto asker =
    nodes[0].loop->actors().spawn([=](caf::event_based_actor* self) {
      for (size_t i = 0; i < requests; ++i)
        self->request(far, caf::infinite, int32_t{1})
          .then([](int32_t) { CAF_ERROR("answered"); },
                [=](caf::error&) { ++*ended; });
    });
  // All are there.
  me->request(far, 1s, int32_t{2}).receive([](int32_t) {}, [](caf::error&) {});
  auto theirs = caf::scoped_actor{nodes[2].loop->actors()};
  theirs->request(nodes[2].member->node(), long_enough, leave_mesh{})
    .receive([](ack) {}, [](caf::error&) {});
  auto downs = 0;
  me->receive(
    [&](const caf::down_msg& x) {
      ++downs;
      CAF_CHECK_EQUAL(x.reason, caf::exit_reason::remote_link_unreachable);
    },
    caf::after(long_enough) >> [] { CAF_FAIL("no down_msg"); });
  me->wait_for(asker);
  CAF_CHECK_EQUAL(*ended, requests);
  me->receive([&](const caf::down_msg&) { ++downs; },
              caf::after(100ms) >> [] {});
  CAF_CHECK_EQUAL(downs, 1);
}

CAF_TEST(C12.6 actors of another system of a daemon talk with other nodes) {
  nodes[1].remote->publish(nodes[1].loop->actors().spawn(adding), "adder");
  const auto far = find<adder>(0, 1, "adder");
  auto config = caf::actor_system_config{};
  config.set("scheduler.max-threads", 3);
  share_handles(config);
  caf::actor_system theirs{config};
  auto answered = std::atomic<int>{0};
  // Asks itself for the double, by way of the other node.
  const auto ask = [&](caf::event_based_actor* self) {
    for (int32_t i = 0; i < 300; ++i) {
      self->request(far, long_enough, i, int32_t{1}).then([&, i](int32_t x) {
        answered += x == i + 1 ? 1 : 0;
      });
      self->request(far, long_enough, caf::actor_cast<caf::actor>(self), i)
        .then([&, self, i](int32_t x) {
          answered += x == 2 * i ? 1 : 0;
          if (i == 299)
            self->quit();
        });
    }
    return doubling();
  };
  auto me = caf::scoped_actor{theirs};
  me->wait_for(theirs.spawn(ask), theirs.spawn<caf::detached>(ask));
  CAF_CHECK_EQUAL(answered.load(), 1200);
  // One that is blocking, with an actor of theirs in its message.
  const auto twice = theirs.spawn(doubling);
  for (int32_t i = 0; i < 300; ++i)
    me->request(far, long_enough, twice, i)
      .receive([&](int32_t x) { CAF_CHECK_EQUAL(x, 2 * i); },
               [](caf::error& e) { CAF_FAIL(reason_of(e)); });
  nodes[0].remote->publish(twice, "twice");
  const auto from_there = find<caf::actor>(2, 0, "twice");
  auto other = caf::scoped_actor{nodes[2].loop->actors()};
  other->request(from_there, long_enough, int32_t{21})
    .receive([](int32_t x) { CAF_CHECK_EQUAL(x, 42); },
             [](caf::error& e) { CAF_FAIL(reason_of(e)); });
  other->monitor(from_there);
  me->send_exit(twice, caf::exit_reason::user_shutdown);
  other->receive(
    [](const caf::down_msg& x) {
      CAF_CHECK_EQUAL(x.reason, caf::exit_reason::user_shutdown);
    },
    caf::after(long_enough) >> [] { CAF_FAIL("no down_msg"); });
}

CAF_TEST_FIXTURE_SCOPE_END()
