#include "actors/mesh/remoting/gateway.hpp"
#include "actors/mesh/remoting/neighbours.hpp"
#include "tests/fixtures/gateway_world.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

/// What an actor hears, in its order: numbers, and the ends of others.
struct heard {
  std::vector<std::string> all;

  void add(std::string x) {
    all.push_back(std::move(x));
  }

  size_t count(const std::string& x) const {
    return static_cast<size_t>(std::count(all.begin(), all.end(), x));
  }
};

std::string text_of(const caf::error& x) {
  return ' ' + std::to_string(x.code());
}

caf::behavior listener(caf::event_based_actor* self, heard* out) {
  self->set_down_handler(
    [=](caf::down_msg& x) { out->add("down" + text_of(x.reason)); });
  self->set_exit_handler([=](caf::exit_msg& x) {
    if (x.reason == caf::exit_reason::kill)
      self->quit();
    else
      out->add("exit" + text_of(x.reason));
  });
  self->set_error_handler([](caf::error&) {});
  return {
    [=](int32_t x) { out->add(std::to_string(x)); },
    [=](caf::monitor_atom, const caf::actor& x) { self->monitor(x); },
    [=](caf::link_atom, const caf::actor& x) { self->link_to(x); },
    [=](caf::unlink_atom, const caf::actor& x) { self->unlink_from(x); },
    [=](caf::ping_atom, const caf::actor& x) {
      self->request(x, caf::infinite, caf::ping_atom::value)
        .then([=](int32_t y) { out->add("answer " + std::to_string(y)); },
              [=](caf::error& e) { out->add("failed" + text_of(e)); });
    },
  };
}

/// Sends numbers when it is told to, and quits.
caf::behavior talker(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  auto kept = std::make_shared<std::vector<caf::response_promise>>();
  return {
    [=](const caf::actor& to, int32_t n) {
      for (int32_t i = 0; i < n; ++i)
        self->send(to, i);
    },
    [=](const caf::actor& to, int32_t n, bool) {
      for (int32_t i = 0; i < n; ++i)
        self->send(to, i);
      self->quit(caf::exit_reason::user_shutdown);
    },
    // Answers never.
    [=](caf::ping_atom) {
      kept->push_back(self->make_response_promise());
      return caf::delegated<int32_t>{};
    },
  };
}

const auto lost_reason = text_of(caf::exit_reason::remote_link_unreachable);

/// A listener on node 0 that knows a talker on node 1.
struct known_talker {
  gateway_world world{2};
  heard out;
  caf::actor ear = world[0].spawn(listener, &out);
  caf::actor original = world[1].spawn(talker);
  caf::actor far;

  known_talker() {
    world.publish(1, original, "talker");
    far = world.find(0, 1, "talker");
  }

  template <class Atom>
  void have(Atom what) {
    caf::anon_send(ear, what, far);
    world.run();
  }

  size_t ends(const char* kind) const {
    return static_cast<size_t>(
      std::count_if(out.all.begin(), out.all.end(), [=](const auto& x) {
        return x.compare(0, std::strlen(kind), kind) == 0;
      }));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(gateway_end_tests, known_talker)

CAF_TEST(ACT-3 a monitor hears of an end once and after all messages) {
  have(caf::monitor_atom::value);
  caf::anon_send(far, ear, 100, true);
  world.run();
  CAF_REQUIRE_EQUAL(out.all.size(), 101u);
  for (int32_t i = 0; i < 100; ++i)
    CAF_CHECK_EQUAL(out.all[static_cast<size_t>(i)], std::to_string(i));
  CAF_CHECK_EQUAL(ends("down"), 1u);
  // Who asks later hears so, too.
  have(caf::monitor_atom::value);
  CAF_CHECK_EQUAL(ends("down"), 2u);
  CAF_CHECK_EQUAL(out.all[100], out.all[101]);
  have(caf::ping_atom::value);
  CAF_CHECK_EQUAL(out.all.back(),
                  "failed" + text_of(caf::sec::request_receiver_down));
  world.kill(1);
  CAF_CHECK_EQUAL(ends("down"), 2u);
}

CAF_TEST(ACT-3 a linked actor of another node takes ours along) {
  have(caf::link_atom::value);
  caf::anon_send(far, ear, 3, true);
  world.run();
  CAF_REQUIRE_EQUAL(out.all.size(), 4u);
  CAF_CHECK_EQUAL(ends("exit"), 1u);
}

CAF_TEST(ACT-3 our end takes a linked actor of another node along) {
  auto theirs = heard{};
  const auto there = world[1].spawn(listener, &theirs);
  world.publish(1, there, "ear");
  const auto mine = world[0].spawn(talker);
  mine->attach_functor([](const caf::error&) {});
  // Linked by us, in both directions.
  const auto far_ear = world.find(0, 1, "ear");
  static_cast<caf::monitorable_actor*>(
    caf::actor_cast<caf::abstract_actor*>(mine))
    ->link_to(far_ear);
  world.run();
  CAF_CHECK_EQUAL(world[0].gauge_of("links"), 1u);
  caf::anon_send_exit(mine, caf::exit_reason::user_shutdown);
  world.run();
  CAF_REQUIRE_EQUAL(theirs.all.size(), 1u);
  CAF_CHECK_EQUAL(theirs.all[0],
                  "exit" + text_of(caf::exit_reason::user_shutdown));
  CAF_CHECK_EQUAL(world[0].gauge_of("links"), 0u);
}

CAF_TEST(ACT-3 who is linked no longer goes on) {
  auto theirs = heard{};
  world.publish(1, world[1].spawn(listener, &theirs), "ear");
  const auto mine = world[0].spawn(talker);
  const auto far_ear = world.find(0, 1, "ear");
  auto* linked = static_cast<caf::monitorable_actor*>(
    caf::actor_cast<caf::abstract_actor*>(mine));
  linked->link_to(far_ear);
  world.run();
  linked->unlink_from(far_ear);
  world.run();
  caf::anon_send_exit(mine, caf::exit_reason::user_shutdown);
  world.run();
  CAF_CHECK(theirs.all.empty());
  CAF_CHECK_EQUAL(world[0].gauge_of("links"), 0u);
}

CAF_TEST(ACT-3 an actor of another node can be asked to end) {
  have(caf::monitor_atom::value);
  caf::anon_send_exit(far, caf::exit_reason::kill);
  world.run();
  CAF_CHECK_EQUAL(ends("down"), 1u);
}

CAF_TEST(ACT-4 what a node owed fails once when it is lost) {
  have(caf::monitor_atom::value);
  have(caf::link_atom::value);
  for (auto i = 0; i < 100; ++i)
    have(caf::ping_atom::value);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 100u);
  // What it has sent is on its way when it ends.
  caf::anon_send(original, caf::actor{}, 0);
  caf::anon_send(far, ear, 5);
  world.run();
  CAF_CHECK_EQUAL(out.all.size(), 5u);
  world.kill(1);
  CAF_CHECK_EQUAL(out.all.size(), 107u);
  CAF_CHECK_EQUAL(ends("down"), 1u);
  CAF_CHECK_EQUAL(out.count("down" + lost_reason), 1u);
  CAF_CHECK_EQUAL(ends("exit"), 1u);
  CAF_CHECK_EQUAL(
    out.count("failed" + text_of(caf::sec::remote_linking_failed)), 100u);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 0u);
  CAF_CHECK_EQUAL(world[0].gauge_of("proxies"), 0u);
  // And whoever asks afterwards hears so at once.
  have(caf::ping_atom::value);
  CAF_CHECK_EQUAL(out.all.size(), 108u);
}

CAF_TEST(ACT-3 who is kept by the lost node alone hears of its end) {
  auto kept = heard{};
  {
    // As one that it had spawned here.
    const auto ours = world[0].sys.spawn(listener, &kept);
    caf::anon_send(ours, caf::link_atom::value, far);
    caf::anon_send(ours, caf::monitor_atom::value, far);
    world.run();
  }
  CAF_CHECK(kept.all.empty());
  world.kill(1);
  CAF_CHECK_EQUAL(kept.count("exit" + lost_reason), 1u);
  CAF_CHECK_EQUAL(kept.count("down" + lost_reason), 1u);
}

CAF_TEST(ACT-4 what a lost node had sent comes before its end) {
  have(caf::monitor_atom::value);
  caf::anon_send(far, ear, 50);
  // Up to where the bundles of node 1 are on their way.
  world[0].consume_messages();
  while (!world.way(0, 1).empty())
    world.deliver(0, 1);
  world[1].consume_messages();
  CAF_REQUIRE(!world.way(1, 0).empty());
  while (!world.way(1, 0).empty())
    world.deliver(1, 0);
  world.stop(1);
  world.tell_lost(0, 1);
  world.run();
  CAF_REQUIRE_EQUAL(out.all.size(), 51u);
  CAF_CHECK_EQUAL(out.all.back(), "down" + lost_reason);
}

CAF_TEST(ACT-4 a daemon that was started anew is another node) {
  have(caf::monitor_atom::value);
  world.kill(1);
  world.restart(1);
  world.run();
  CAF_CHECK_EQUAL(ends("down"), 1u);
  world.publish(1, world[1].spawn(talker), "talker");
  const auto again = world.find(0, 1, "talker");
  CAF_CHECK(again->node() != far->node());
  caf::anon_send(again, ear, 2);
  caf::anon_send(far, ear, 2);
  world.run();
  CAF_CHECK_EQUAL(out.all.size(), 3u);
}

CAF_TEST(ACT-4 a delegated request fails with the node that was to answer) {
  auto three = gateway_world{3};
  auto told = heard{};
  const auto asker = three[0].spawn(listener, &told);
  three.publish(2, three[2].spawn(talker), "silent");
  const auto silent_1 = three.find(1, 2, "silent");
  const auto delegate = [=](caf::event_based_actor* self) {
    return caf::behavior{
      [=](caf::ping_atom x) { return self->delegate(silent_1, x); }};
  };
  three.publish(1, three[1].spawn(delegate), "between");
  caf::anon_send(asker, caf::ping_atom::value, three.find(0, 1, "between"));
  three.run();
  CAF_CHECK_EQUAL(three[0].gauge_of("requests"), 1u);
  three.kill(2);
  CAF_CHECK_EQUAL(told.all.size(), 1u);
  CAF_CHECK_EQUAL(three[0].gauge_of("requests"), 0u);
  three.kill(1);
  CAF_CHECK_EQUAL(told.all.size(), 1u);
}

CAF_TEST(ACT-13 lost bundles end what both nodes hold of each other) {
  have(caf::monitor_atom::value);
  have(caf::ping_atom::value);
  caf::anon_send(far, ear, 3);
  world[0].consume_messages();
  CAF_REQUIRE(!world.way(0, 1).empty());
  world.lose(0, 1);
  world.run();
  CAF_CHECK(out.all.empty());
  // The next one shows it.
  caf::anon_send(far, ear, 3);
  world.run();
  CAF_CHECK_EQUAL(out.all.size(), 2u);
  CAF_CHECK_EQUAL(out.count("down" + lost_reason), 1u);
  CAF_CHECK_EQUAL(world[1].gauge_of("conversations_ended"), 1u);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 0u);
  // The nodes find each other again.
  const auto again = world.find(0, 1, "talker");
  caf::anon_send(again, ear, 3);
  world.run();
  CAF_CHECK_EQUAL(out.all.size(), 5u);
}

CAF_TEST(ACT-13 also the last bundle is missed when it is lost) {
  have(caf::monitor_atom::value);
  caf::anon_send(ear, caf::ping_atom::value, far);
  world[0].consume_messages();
  CAF_REQUIRE(!world.way(0, 1).empty());
  world.lose(0, 1);
  world.elapse(20s);
  CAF_CHECK_EQUAL(out.all.size(), 2u);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 0u);
}

CAF_TEST(ACT-13 also the last answer is missed when it is lost) {
  const auto quick = [] {
    return caf::behavior{[](caf::ping_atom) { return int32_t{1}; }};
  };
  world.publish(1, world[1].spawn(quick), "quick");
  caf::anon_send(ear, caf::ping_atom::value, world.find(0, 1, "quick"));
  world[0].consume_messages();
  world.deliver(0, 1);
  world[1].consume_messages();
  CAF_REQUIRE(!world.way(1, 0).empty());
  world.lose(1, 0);
  world.elapse(20s);
  CAF_CHECK_EQUAL(out.all.size(), 1u);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 0u);
}

CAF_TEST(ACT-13 a node without a gateway answers nothing and fails all) {
  auto other = gateway_world{2};
  other.stop(1);
  auto& me = *other[0].me;
  auto reply =
    me->request(other[0].gateway, caf::infinite, lookup_actor{1, "name"});
  other.run();
  CAF_CHECK(me->mailbox().empty());
  other.elapse(20s);
  CAF_REQUIRE(!me->mailbox().empty());
  reply.receive([](caf::strong_actor_ptr&) { CAF_ERROR("found"); },
                [](caf::error& x) {
                  CAF_CHECK_EQUAL(x, caf::sec::cannot_connect_to_node);
                });
  CAF_CHECK_EQUAL(other[0].gauge_of("questions"), 0u);
}

CAF_TEST(ACT-11 the end of the gateway ends all proxies) {
  have(caf::monitor_atom::value);
  have(caf::ping_atom::value);
  caf::anon_send_exit(world[0].gateway, caf::exit_reason::user_shutdown);
  world.run();
  CAF_CHECK_EQUAL(out.all.size(), 2u);
  CAF_CHECK_EQUAL(ends("down"), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

/// Beside node 0, another actor system of its process, with a listener.
struct known_neighbour : known_talker {
  deterministic beside;
  heard told;
  caf::actor theirs;

  known_neighbour() {
    name_system(beside.sys, {no_rank, 1});
    add_neighbour(beside.sys);
    theirs = beside.sys.spawn(listener, &told);
    run();
  }

  ~known_neighbour() {
    end_theirs();
    remove_neighbour(beside.sys);
  }

  void run() {
    do
      world.run();
    while (beside.consume_messages() > 0);
  }

  void end_theirs() {
    caf::anon_send_exit(theirs, caf::exit_reason::kill);
    run();
  }

  template <class Atom>
  void have_theirs(Atom what, const caf::actor& whom) {
    caf::anon_send(theirs, what, whom);
    run();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(gateway_neighbour_tests, known_neighbour)

CAF_TEST(C12.6 a request of an actor of another system ends once) {
  const auto quick = [] {
    return caf::behavior{[](caf::ping_atom) { return int32_t{1}; }};
  };
  world.publish(1, world[1].spawn(quick), "quick");
  have_theirs(caf::ping_atom::value, world.find(0, 1, "quick"));
  CAF_REQUIRE_EQUAL(told.all.size(), 1u);
  CAF_CHECK_EQUAL(told.all[0], "answer 1");
  have_theirs(caf::monitor_atom::value, far);
  for (auto i = 0; i < 100; ++i)
    have_theirs(caf::ping_atom::value, far);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 100u);
  CAF_CHECK_EQUAL(world[0].gauge_of("foreign"), 1u);
  world.kill(1);
  run();
  CAF_CHECK_EQUAL(told.all.size(), 102u);
  CAF_CHECK_EQUAL(
    told.count("failed" + text_of(caf::sec::remote_linking_failed)), 100u);
  CAF_CHECK_EQUAL(told.count("down" + lost_reason), 1u);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 0u);
}

CAF_TEST(C12.6 requests of an actor of another system end with it) {
  have_theirs(caf::ping_atom::value, far);
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 1u);
  end_theirs();
  CAF_CHECK_EQUAL(world[0].gauge_of("requests"), 0u);
  CAF_CHECK_EQUAL(world[0].gauge_of("foreign"), 0u);
}

CAF_TEST(C12.6 the handle of an actor of another system works in a message) {
  auto there = heard{};
  world.publish(1, world[1].spawn(listener, &there), "ear");
  caf::anon_send(world.find(0, 1, "ear"), caf::monitor_atom::value, theirs);
  run();
  CAF_CHECK_EQUAL(world[0].gauge_of("foreign"), 1u);
  // Nothing of it stays in their registry.
  CAF_CHECK(!beside.sys.registry().get(theirs.id()));
  caf::anon_send(far, theirs, 3);
  run();
  CAF_CHECK_EQUAL(told.all, (std::vector<std::string>{"0", "1", "2"}));
  CAF_CHECK(there.all.empty());
  end_theirs();
  CAF_CHECK_EQUAL(there.all.size(), 1u);
  CAF_CHECK_EQUAL(world[0].gauge_of("foreign"), 0u);
  // One that has ended, and is told of as such.
  caf::anon_send(world.find(0, 1, "ear"), caf::monitor_atom::value, theirs);
  run();
  CAF_CHECK_EQUAL(there.all.size(), 2u);
}

CAF_TEST(C12.6 the handle of an actor of another system comes back as itself) {
  const auto echo = [] {
    return caf::behavior{[](caf::actor x) { return x; }};
  };
  world.publish(1, world[1].spawn(echo), "echo");
  const auto back = world.ask<caf::actor>(0, world.find(0, 1, "echo"), theirs);
  CAF_REQUIRE(back.engaged());
  CAF_CHECK_EQUAL(*back, theirs);
}

CAF_TEST(C12.6 handles of both systems stand in one message) {
  const auto second = [] {
    return caf::behavior{
      [](const caf::actor&, caf::actor x) { return x; },
      [](const caf::actor&, const caf::actor&, caf::actor x) { return x; }};
  };
  world.publish(1, world[1].spawn(second), "second");
  const auto far_one = world.find(0, 1, "second");
  const auto ours = world[0].spawn(second);
  const auto back = world.ask<caf::actor>(0, far_one, theirs, ours);
  CAF_REQUIRE(back.engaged());
  CAF_CHECK_EQUAL(*back, ours);
  const auto other = world.ask<caf::actor>(0, far_one, ours, far_one, theirs);
  CAF_REQUIRE(other.engaged());
  CAF_CHECK_EQUAL(*other, theirs);
}

CAF_TEST(C12.6 a handle of a system that has ended is that of a dead actor) {
  remove_neighbour(beside.sys);
  auto there = heard{};
  world.publish(1, world[1].spawn(listener, &there), "ear");
  caf::anon_send(world.find(0, 1, "ear"), caf::monitor_atom::value, theirs);
  run();
  CAF_CHECK_EQUAL(there.all.size(), 1u);
  CAF_CHECK_EQUAL(world[0].gauge_of("foreign"), 0u);
}

CAF_TEST(C12.6 an actor of another system is published and found) {
  world.publish(0, theirs, "theirs");
  const auto found = world.find(1, 0, "theirs");
  caf::anon_send(found, int32_t{7});
  run();
  CAF_CHECK_EQUAL(told.all, std::vector<std::string>{"7"});
  end_theirs();
  CAF_CHECK_EQUAL(world[0].gauge_of("published"), 0u);
}

CAF_TEST(C12.6 links of an actor of another system work both ways) {
  have_theirs(caf::link_atom::value, far);
  CAF_CHECK_EQUAL(world[0].gauge_of("links"), 1u);
  caf::anon_send_exit(original, caf::exit_reason::user_shutdown);
  run();
  CAF_REQUIRE_EQUAL(told.all.size(), 1u);
  CAF_CHECK_EQUAL(told.all[0],
                  "exit" + text_of(caf::exit_reason::user_shutdown));
  // A kill is fatal to whoever is linked to the one that ends by it.
  auto there = heard{};
  auto beside_it = heard{};
  const auto ear = world[1].spawn(listener, &there);
  caf::anon_send(world[1].spawn(listener, &beside_it), caf::monitor_atom::value,
                 caf::actor_cast<caf::actor>(ear));
  world.publish(1, ear, "ear");
  have_theirs(caf::link_atom::value, world.find(0, 1, "ear"));
  end_theirs();
  CAF_CHECK_EQUAL(beside_it.count("down" + text_of(caf::exit_reason::kill)),
                  1u);
  CAF_CHECK_EQUAL(world[0].gauge_of("links"), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
