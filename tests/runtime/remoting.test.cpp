#include "runtime/remoting.hpp"

#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"
#include "runtime/mesh_member.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <atomic>
#include <thread>

using namespace troupe;
using namespace remoting_test;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;

template <class T>
T value_of(caf::expected<T> x) {
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return std::move(*x);
}

/// A daemon with a thread of its own.
struct daemon_of_dvm {
  std::unique_ptr<loop_system> loop = std::make_unique<loop_system>();
  std::unique_ptr<mesh_member> member;
  std::unique_ptr<remoting> remote;
  std::thread thread;

  void run() {
    thread = std::thread{[this] { loop->run(); }};
  }

  void stop() {
    if (!thread.joinable())
      return;
    loop->stop();
    thread.join();
    remote.reset();
    member.reset();
    loop.reset();
  }

  ~daemon_of_dvm() {
    stop();
  }
};

/// Three members of a DVM in one process, over the loopback of the machine.
struct three_daemons {
  daemon_of_dvm nodes[3];

  three_daemons() {
    const auto issuer = value_of(authority::make("remoting-test"));
    auto root = std::vector<node_address>{};
    for (uint32_t i = 0; i < 3; ++i) {
      auto& x = nodes[i];
      auto options = mesh_member_options{};
      const auto name = "n" + std::to_string(i);
      options.context =
        value_of(secure_context::make(value_of(issuer.issue(i, name))));
      options.networks = {"lo"};
      if (i == 0)
        options.names = {"n0", "n1", "n2"};
      options.root_name = i == 0 ? "" : "n0";
      options.root_addresses = root;
      x.member = value_of(mesh_member::start(*x.loop, std::move(options)));
      auto how = remoting_options{};
      how.is_alone = true;
      x.remote = remoting::start(*x.loop, *x.member, how);
      x.run();
      while (root.empty()) {
        auto me = caf::scoped_actor{x.loop->actors()};
        me->request(x.member->node(), patience, get_mesh_status{})
          .receive([&](mesh_status& y) { root = std::move(y.addresses); },
                   [](caf::error& e) { CAF_FAIL(reason_of(e)); });
      }
    }
  }

  /// A handle that a node has published, as another one gets it; waits until
  /// the node is a member.
  template <class Handle>
  Handle find(size_t node, uint32_t where, const std::string& name) {
    for (;;) {
      auto result = nodes[node].remote->remote_lookup<Handle>(where, name);
      if (result)
        return *result;
      if (result.error() != caf::sec::cannot_connect_to_node)
        CAF_FAIL(reason_of(result.error()));
      std::this_thread::yield();
    }
  }
};

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
    me->request(far, patience, xs...)
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
        me->request(far, patience, t, i)
          .receive([&](int32_t x) { answered += x == t + i ? 1 : 0; },
                   [](caf::error&) {});
    });
  const auto detached =
    here.spawn<caf::detached>([&](caf::event_based_actor* self) {
      for (int32_t i = 0; i < 300; ++i)
        self->request(far, patience, i, int32_t{1}).then([&, i](int32_t x) {
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
  theirs->request(nodes[2].member->node(), patience, leave_mesh{})
    .receive([](ack) {}, [](caf::error&) {});
  auto downs = 0;
  me->receive(
    [&](const caf::down_msg& x) {
      ++downs;
      CAF_CHECK_EQUAL(x.reason, caf::exit_reason::remote_link_unreachable);
    },
    caf::after(patience) >> [] { CAF_FAIL("no down_msg"); });
  me->wait_for(asker);
  CAF_CHECK_EQUAL(*ended, requests);
  me->receive([&](const caf::down_msg&) { ++downs; },
              caf::after(100ms) >> [] {});
  CAF_CHECK_EQUAL(downs, 1);
}

CAF_TEST_FIXTURE_SCOPE_END()
