#include "runtime/remoting.hpp"

#include "runtime/foreign_system.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/fixtures/three_daemons.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>
#ifdef TROUPE_HAS_CAF_IO
#  include <caf/io/all.hpp>
#endif

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

/// Tells of what types a handle can be.
caf::behavior judging() {
  const auto judge = [](const auto& x) {
    const auto text = std::string{remoting::cast<adder>(x) ? "an adder" : ""};
    return remoting::cast<weather>(x) ? text + " and a weather" : text;
  };
  return {
    [=](const caf::actor& x) { return judge(x); },
    [=](const adder& x) { return judge(x); },
    [=](const weather& x) { return judge(x); },
  };
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

CAF_TEST(ACT-17 typed handles in messages bring their interface over lanes) {
  for (auto& x : nodes)
    x.remote->accept<adder, weather>();
  nodes[2].remote->publish(nodes[2].loop->actors().spawn(adding), "adder");
  nodes[1].remote->publish(nodes[1].loop->actors().spawn(judging), "judge");
  const auto judge = find<caf::actor>(0, 1, "judge");
  auto& here = nodes[0].loop->actors();
  auto me = caf::scoped_actor{here};
  const auto verdict = [&](const auto& x) {
    auto result = std::string{};
    me->request(judge, long_enough, x)
      .receive([&](std::string& y) { result = std::move(y); },
               [&](caf::error& e) { result = reason_of(e); });
    return result;
  };
  // Of a third node, whatever its type is in the message; then of the sender.
  const auto third = find<adder>(0, 2, "adder");
  CAF_CHECK_EQUAL(verdict(third), "an adder");
  CAF_CHECK_EQUAL(verdict(caf::actor_cast<caf::actor>(third)), "an adder");
  const auto mine = here.spawn(adding);
  const auto untyped = caf::actor_cast<caf::actor>(mine);
  CAF_CHECK_EQUAL(verdict(untyped), "an adder and a weather");
  CAF_CHECK_EQUAL(verdict(mine), "an adder");
  CAF_CHECK_EQUAL(verdict(untyped), "an adder");
  // What was found here is cast by its interface, and refused there if it is not.
  CAF_CHECK(remoting::cast<adder>(third));
  CAF_CHECK_EQUAL(remoting::cast<weather>(third).error(),
                  caf::sec::unexpected_actor_messaging_interface);
  const auto refusal = verdict(caf::actor_cast<weather>(third));
  CAF_CHECK(refusal.find("not what its type says") != std::string::npos);
  caf::anon_send_exit(mine, caf::exit_reason::user_shutdown);
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

#ifdef TROUPE_HAS_CAF_IO

namespace {

/// A broker of a daemon: asks an actor of another node, sends, and is asked.
caf::behavior asking_broker(caf::io::broker* self, const caf::actor& far) {
  return {
    [=](const std::string&, int32_t x) {
      auto promise = self->make_response_promise<int32_t>();
      self->request(far, long_enough, x)
        .then([promise](int32_t y) mutable { promise.deliver(y + 1); },
              [promise](caf::error& e) mutable { promise.deliver(e); });
      return promise;
    },
    [=](const caf::actor& to, int32_t x) { self->send(to, x); },
    [](int32_t x) { return x + 1; },
  };
}

} // namespace

CAF_TEST(C12.6 a broker of a daemon talks with other nodes) {
  nodes[1].remote->publish(nodes[1].loop->actors().spawn(doubling), "double");
  const auto far = find<caf::actor>(0, 1, "double");
  auto config = caf::actor_system_config{};
  config.set("scheduler.max-threads", 2);
  config.load<caf::io::middleman>();
  share_handles(config);
  caf::actor_system theirs{config};
  const auto broker = theirs.middleman().spawn_broker(asking_broker, far);
  nodes[0].remote->publish(broker, "broker");
  const auto from_there = find<caf::actor>(2, 0, "broker");
  auto me = caf::scoped_actor{nodes[2].loop->actors()};
  const auto check = [&](int32_t expected, auto... xs) {
    me->request(from_there, long_enough, std::move(xs)...)
      .receive([&](int32_t x) { CAF_CHECK_EQUAL(x, expected); },
               [](caf::error& e) { CAF_FAIL(reason_of(e)); });
  };
  for (int32_t i = 0; i < 200; ++i) {
    check(i + 1, i);
    // It has node 1 answer node 2.
    check(2 * i + 1, std::string{"double"}, i);
  }
  // What it sends comes in order.
  for (int32_t i = 0; i < 200; ++i)
    me->send(from_there, caf::actor_cast<caf::actor>(me), i);
  for (int32_t i = 0; i < 200; ++i)
    me->receive([&](int32_t x) { CAF_CHECK_EQUAL(x, i); },
                caf::after(long_enough) >> [] { CAF_FAIL("nothing comes"); });
  // One of node 0 itself, and the end of the broker.
  const auto ours = nodes[0].loop->actors().spawn(doubling);
  const auto local = theirs.middleman().spawn_broker(asking_broker, ours);
  auto beside = caf::scoped_actor{nodes[0].loop->actors()};
  beside->request(local, long_enough, std::string{"double"}, int32_t{21})
    .receive([](int32_t x) { CAF_CHECK_EQUAL(x, 43); },
             [](caf::error& e) { CAF_FAIL(reason_of(e)); });
  beside->send_exit(local, caf::exit_reason::user_shutdown);
  beside->send_exit(ours, caf::exit_reason::user_shutdown);
  me->monitor(from_there);
  me->send_exit(from_there, caf::exit_reason::user_shutdown);
  me->receive(
    [](const caf::down_msg& x) {
      CAF_CHECK_EQUAL(x.reason, caf::exit_reason::user_shutdown);
    },
    caf::after(long_enough) >> [] { CAF_FAIL("no down_msg"); });
}

#endif // TROUPE_HAS_CAF_IO

CAF_TEST_FIXTURE_SCOPE_END()
