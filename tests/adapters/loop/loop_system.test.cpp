#include "adapters/loop/loop_system.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/timer.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

using lines = std::vector<std::string>;

/// A system that keeps what its actors print, and can be ended in the middle of
/// a test.
struct fixture {
  lines printed;
  std::optional<loop_system> sys;

  fixture() {
    loop_system::settings x;
    x.print = [this](std::string line) { printed.push_back(std::move(line)); };
    sys.emplace(std::move(x));
  }

  /// Runs the loop for more passes than actors need to come to rest.
  void settle() {
    auto passes = 20;
    std::optional<timer> next;
    next.emplace(sys->loop(), [&] {
      if (--passes == 0)
        sys->stop();
      else
        next->start(0ms);
    });
    next->start(0ms);
    sys->run();
  }
};

/// Answers nothing: keeps the promise.
caf::behavior
silent(caf::stateful_actor<std::vector<caf::response_promise>>* self) {
  return {[self](int) {
    self->state.push_back(self->make_response_promise());
    return self->state.back();
  }};
}

caf::behavior doubler(caf::event_based_actor*) {
  return {[](int x) { return 2 * x; }};
}

/// Notes that it ended, in order.
struct tracer {
  ~tracer() {
    if (trace != nullptr)
      trace->push_back(name);
  }

  std::vector<std::string>* trace = nullptr;
  std::string name;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(loop_system_tests, fixture)

CAF_TEST(F4.1 bytes go from a socket through an actor and back) {
  std::array<int, 2> fds{};
  CAF_REQUIRE_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
  auto writer =
    sys->actors().spawn([&](caf::event_based_actor*) -> caf::behavior {
      return {[&](const std::string& x) {
        CAF_CHECK_EQUAL(write(fds[0], x.data(), x.size()),
                        static_cast<ssize_t>(x.size()));
      }};
    });
  fd_watch near{sys->loop(), fds[0], [&] {
                  std::array<char, 64> buf{};
                  const auto n = read(fds[0], buf.data(), buf.size());
                  CAF_REQUIRE(n > 0);
                  caf::anon_send(writer, std::string(buf.data(), n));
                }};
  std::string echoed;
  fd_watch far{sys->loop(), fds[1], [&] {
                 std::array<char, 64> buf{};
                 const auto n = read(fds[1], buf.data(), buf.size());
                 CAF_REQUIRE(n > 0);
                 echoed.append(buf.data(), n);
                 if (echoed.size() == 5)
                   sys->stop();
               }};
  CAF_REQUIRE(near.enable_read());
  CAF_REQUIRE(far.enable_read());
  CAF_CHECK_EQUAL(write(fds[1], "hello", 5), 5);
  sys->run();
  CAF_CHECK_EQUAL(echoed, "hello");
  close(fds[0]);
  close(fds[1]);
}

CAF_TEST(a request that is not answered in time fails) {
  auto outcome = caf::error{};
  const auto mute = sys->actors().spawn(silent);
  sys->actors().spawn([&](caf::event_based_actor* self) {
    self->request(mute, 5ms, 1)
      .then([](int) { CAF_FAIL("answered"); },
            [&](const caf::error& err) {
              outcome = err;
              sys->stop();
            });
  });
  sys->run();
  CAF_CHECK_EQUAL(outcome, caf::sec::request_timeout);
}

CAF_TEST(another thread asks and waits with a scoped actor) {
  const auto twice = sys->actors().spawn(doubler);
  const auto mute = sys->actors().spawn(silent);
  auto answer = 0;
  auto outcome = caf::error{};
  std::thread other{[&] {
    {
      caf::scoped_actor self{sys->actors()};
      self->request(twice, caf::infinite, 21)
        .receive([&](int x) { answer = x; }, [](const caf::error&) {});
      self->request(mute, 5ms, 1)
        .receive([](int) {}, [&](const caf::error& err) { outcome = err; });
    }
    sys->stop();
  }};
  sys->run();
  other.join();
  CAF_CHECK_EQUAL(answer, 42);
  CAF_CHECK_EQUAL(outcome, caf::sec::request_timeout);
}

CAF_TEST(a thread of its own runs the loop while others use the actors) {
  std::thread runner{[&] { sys->run(); }};
  // From here on two threads: spawn and send race with the loop.
  std::vector<std::thread> users;
  std::atomic<int> sum{0};
  for (auto t = 0; t < 3; ++t)
    users.emplace_back([&] {
      caf::scoped_actor self{sys->actors()};
      for (auto i = 0; i < 500; ++i) {
        const auto twice = sys->actors().spawn(doubler);
        self->request(twice, 10s, i)
          .receive([&](int x) { sum += x; }, [](const caf::error&) {});
      }
    });
  for (auto& x : users)
    x.join();
  sys->stop();
  runner.join();
  sys.reset();
  CAF_CHECK_EQUAL(sum.load(), 3 * 499 * 500);
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(pool work ends as a message to an actor) {
  auto seen = 0;
  const auto sink =
    sys->actors().spawn([&](caf::event_based_actor*) -> caf::behavior {
      return {[&](int x) {
        seen = x;
        sys->stop();
      }};
    });
  const auto found = std::make_shared<int>(0);
  sys->pool().post([found] { *found = 7; },
                   [=] { caf::anon_send(sink, *found); });
  sys->run();
  CAF_CHECK_EQUAL(seen, 7);
}

CAF_TEST(complaints of actors and of CAF go to the settable function) {
  sys->actors().spawn([](caf::event_based_actor* self) {
    caf::aout(self) << "hello " << 1 << std::endl;
  });
  const auto twice = sys->actors().spawn(doubler);
  caf::anon_send(twice, std::string{"not a number"});
  settle();
  CAF_REQUIRE(printed.size() >= 2u);
  CAF_CHECK_EQUAL(printed[0], "hello 1");
  CAF_CHECK(printed[1].find("unexpected message") != std::string::npos);
}

CAF_TEST(an exception in a handler ends its actor only) {
  auto outcome = caf::error{};
  const auto thrower =
    sys->actors().spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](int) -> int { throw std::runtime_error{"no"}; }};
    });
  sys->actors().spawn([&](caf::event_based_actor* self) {
    self->request(thrower, caf::infinite, 1)
      .then([](int) {},
            [&](const caf::error& err) {
              outcome = err;
              sys->stop();
            });
  });
  sys->run();
  CAF_CHECK_EQUAL(outcome, caf::sec::runtime_error);
}

CAF_TEST(configure sees the configuration before the system is built) {
  auto calls = 0;
  loop_system::settings x;
  x.configure = [&](caf::actor_system_config& cfg, event_loop&) {
    ++calls;
    cfg.set("scheduler.max-threads", 5);
  };
  loop_system other{std::move(x)};
  CAF_CHECK_EQUAL(calls, 0);
  CAF_CHECK_EQUAL(
    caf::get_or(other.actors().config(), "scheduler.max-threads", 0), 5);
  CAF_CHECK_EQUAL(&other.actors(), &other.actors());
  CAF_CHECK_EQUAL(calls, 1);
}

CAF_TEST(a loop and its pool need no actor system) {
  auto calls = 0;
  auto is_done = false;
  loop_system::settings x;
  x.configure = [&](caf::actor_system_config&, event_loop&) { ++calls; };
  {
    loop_system other{std::move(x)};
    CAF_REQUIRE(other.pool().post([] {},
                                  [&] {
                                    is_done = true;
                                    other.stop();
                                  }));
    other.run();
  }
  CAF_CHECK(is_done);
  CAF_CHECK_EQUAL(calls, 0);
}

CAF_TEST(teardown without run lets actors work off their mail) {
  auto seen = 0;
  caf::anon_send(
    sys->actors().spawn([&](caf::event_based_actor*) -> caf::behavior {
      return {[&](int x) { seen = x; }};
    }),
    3);
  sys.reset();
  CAF_CHECK_EQUAL(seen, 3);
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(teardown does not wait for requests and timers) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto mute = sys->actors().spawn(silent);
    for (auto i = 0; i < 100; ++i)
      sys->actors().spawn([mute, i](caf::event_based_actor* self) {
        const auto timeout =
          i % 2 == 0 ? caf::duration{3600s} : caf::duration{caf::infinite};
        self->request(mute, timeout, i)
          .then([](int) {}, [](const caf::error&) {});
        self->delayed_send(self, 3600s, i);
      });
  }
  settle();
  sys.reset();
  CAF_CHECK(std::chrono::steady_clock::now() - begin < 5s);
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(teardown ends actors that never rest with their state) {
  std::vector<std::string> trace;
  for (auto i = 0; i < 3; ++i)
    sys->actors().spawn(
      [&](caf::stateful_actor<tracer>* self) -> caf::behavior {
        self->state.trace = &trace;
        self->state.name = "busy";
        self->send(self, 1);
        return {[self](int x) { self->send(self, x + 1); }};
      });
  settle();
  sys.reset();
  CAF_CHECK_EQUAL(trace, lines({"busy", "busy", "busy"}));
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(teardown ends the actors that its victims wake) {
  // Each watches one that never rests, and spawns another when it ends.
  for (auto i = 0; i < 3; ++i)
    sys->actors().spawn([](caf::event_based_actor* self) -> caf::behavior {
      const auto spawn_busy = [self] {
        self->spawn<caf::monitored>(
          [](caf::event_based_actor* child) -> caf::behavior {
            child->send(child, 1);
            return {[child](int x) { child->send(child, x); }};
          });
      };
      self->set_down_handler([=](const caf::down_msg&) { spawn_busy(); });
      spawn_busy();
      return {[](int) {}};
    });
  settle();
  sys.reset();
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(teardown ends actors that refer to themselves) {
  std::vector<std::string> trace;
  struct state : tracer {
    caf::actor self;
  };
  const auto keep_oneself = [&](caf::stateful_actor<state>* self) {
    self->state.trace = &trace;
    self->state.name = "kept";
    self->state.self = self;
    return caf::behavior{[](int) {}};
  };
  sys->actors().spawn(keep_oneself);
  settle();
  CAF_CHECK_EQUAL(sys->actors().registry().running(), 1u);
  sys.reset();
  CAF_CHECK_EQUAL(trace, lines({"kept"}));
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(teardown ends actors that do not listen) {
  std::vector<std::string> trace;
  const auto mute = sys->actors().spawn(silent);
  sys->actors().spawn([&](caf::stateful_actor<tracer>* self) {
    self->state.trace = &trace;
    self->state.name = "awaits";
    self->request(mute, caf::infinite, 1).await([](int) {});
    return caf::behavior{[](int) {}};
  });
  sys->actors().spawn([&](caf::stateful_actor<tracer>* self) {
    self->state.trace = &trace;
    self->state.name = "ignores";
    self->set_exit_handler([](const caf::exit_msg&) {});
    self->delayed_send(self, 3600s, 1);
    return caf::behavior{[](int) {}};
  });
  settle();
  sys.reset();
  std::sort(trace.begin(), trace.end());
  CAF_CHECK_EQUAL(trace, lines({"awaits", "ignores"}));
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(a handle may outlive its system) {
  const auto twice = sys->actors().spawn(doubler);
  const auto mute = sys->actors().spawn(silent);
  settle();
  sys.reset();
  caf::anon_send(twice, 1);
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(teardown names a scoped actor that is left) {
  caf::scoped_actor self{sys->actors()};
  // What the destructor does; it must not come before the end of `self`.
  sys->actors().scheduler().stop();
  CAF_CHECK_EQUAL(printed, lines({"1 actors outlive their actor system"}));
  CAF_CHECK_EQUAL(sys->actors().registry().running(), 1u);
}

CAF_TEST(teardown drops posted tasks before the actors they own) {
  auto twice = sys->actors().spawn(doubler);
  sys->loop().post([twice] { CAF_FAIL("ran"); });
  sys->pool().post([] {}, [twice] {});
  twice = nullptr;
  sys.reset();
  CAF_CHECK_EQUAL(printed, lines{});
}

CAF_TEST(actors that work off their mail may still ask the pool) {
  auto was_taken = false;
  {
    const auto uut = sys->actors().spawn(
      [pool = &sys->pool(), &was_taken](caf::event_based_actor*) {
        return caf::behavior{
          [=, &was_taken](int32_t) { was_taken = pool->post([] {}, [] {}); }};
      });
    caf::anon_send(uut, int32_t{1});
  }
  sys.reset();
  CAF_CHECK(was_taken);
}

CAF_TEST(systems can be built one after another and side by side) {
  for (auto i = 0; i < 20; ++i) {
    loop_system a;
    loop_system b;
    auto answer = 0;
    const auto twice = b.actors().spawn(doubler);
    a.actors().spawn([&](caf::event_based_actor* self) {
      self->request(twice, caf::infinite, i)
        .then(
          [&](int x) {
            answer = x;
            a.stop();
            b.stop();
          },
          [](const caf::error&) {});
    });
    std::thread other{[&] { b.run(); }};
    a.run();
    other.join();
    CAF_CHECK_EQUAL(answer, 2 * i);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
