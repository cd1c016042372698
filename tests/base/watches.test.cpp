// Actors that monitor others for no longer than they live.

#include "base/watches.hpp"

#include "tests/fixtures/deterministic.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct watcher_state {
  watches watched;
  std::vector<caf::actor_addr> lost;
};

using watcher_pointer = caf::stateful_actor<watcher_state>*;

/// Monitors `whom` as often as it is told to, and takes as much back.
caf::behavior watcher(watcher_pointer self, const caf::actor& whom) {
  self->set_down_handler(
    [self](const caf::down_msg& x) { self->state.lost.push_back(x.source); });
  return {
    [self, whom](int n) {
      for (; n > 0; --n)
        self->state.watched.add(self, whom);
      for (; n < 0; ++n)
        self->state.watched.remove(whom.address());
    },
    [self](caf::unit_t) { return self->state.lost.size(); },
  };
}

caf::behavior idle(caf::event_based_actor*, int) {
  return {[](caf::unit_t) {}};
}

struct watches_world : deterministic {
  /// How many hold the storage of an actor that has ended, but for us.
  static size_t holders(const caf::weak_actor_ptr& x) {
    return x.get()->weak_refs.load() - 1;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(watches_tests, watches_world)

CAF_TEST(MND-A1 nothing stays of an actor that monitored a longer lived one) {
  const auto server = sys.spawn(idle, 0);
  auto uut = sys.spawn(watcher, server);
  self->send(uut, 1);
  consume_messages();
  const auto storage = caf::actor_cast<caf::weak_actor_ptr>(uut);
  self->send_exit(uut, caf::exit_reason::user_shutdown);
  uut = nullptr;
  consume_messages();
  CAF_CHECK_EQUAL(storage.get()->strong_refs.load(), 0u);
  CAF_CHECK_EQUAL(holders(storage), 0u);
  self->send_exit(server, caf::exit_reason::user_shutdown);
  consume_messages();
}

CAF_TEST(MND-A1 the end is told once however often it was added) {
  const auto server = sys.spawn(idle, 0);
  const auto uut = sys.spawn(watcher, server);
  self->send(uut, 3);
  self->send(uut, -2);
  consume_messages();
  self->send_exit(server, caf::exit_reason::user_shutdown);
  consume_messages();
  CAF_CHECK_EQUAL(caf::actor_cast<caf::stateful_actor<watcher_state>*>(uut)
                    ->state.lost.size(),
                  1u);
  self->send_exit(uut, caf::exit_reason::user_shutdown);
  consume_messages();
}

CAF_TEST(MND-A1 with the last removal nothing is told) {
  const auto server = sys.spawn(idle, 0);
  const auto uut = sys.spawn(watcher, server);
  self->send(uut, 2);
  self->send(uut, -2);
  self->send(uut, -1);
  consume_messages();
  self->send_exit(server, caf::exit_reason::user_shutdown);
  consume_messages();
  CAF_CHECK_EQUAL(caf::actor_cast<caf::stateful_actor<watcher_state>*>(uut)
                    ->state.lost.size(),
                  0u);
  self->send_exit(uut, caf::exit_reason::user_shutdown);
  consume_messages();
}

CAF_TEST_FIXTURE_SCOPE_END()
