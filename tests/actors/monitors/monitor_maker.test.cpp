// Monitors that nodes have made on each other.

#include "actors/monitors/monitor_maker.hpp"

#include "actors/monitors/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/wire_types.hpp"
#include "tests/fixtures/gateway_world.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

/// What monitors of a node were told.
struct node_script {
  std::vector<start_monitor> started;
  monitor_user_actor user;
  size_t stops = 0;
  size_t ends = 0;
};

struct scripted_state {
  std::shared_ptr<node_script> play;

  ~scripted_state() {
    if (play)
      ++play->ends;
  }
};

monitor_actor::behavior_type
scripted(monitor_actor::stateful_pointer<scripted_state> self,
         const std::shared_ptr<node_script>& play) {
  self->state.play = play;
  return {
    [play](start_monitor& what, monitor_user_actor& user) -> caf::result<ack> {
      if (what.who.creds.uid != 1000)
        return make_error(status::bad_param, "not for you");
      play->started.push_back(std::move(what));
      play->user = std::move(user);
      return ack{};
    },
    [play](stop_monitor) { ++play->stops; },
  };
}

/// Whoever wants monitors.
monitor_user_actor::behavior_type
user(monitor_user_actor::pointer,
     const std::shared_ptr<std::vector<std::string>>& heard) {
  return {[heard](const monitor_alert& x) {
    heard->push_back(std::to_string(x.number) + " " + x.reason + " "
                     + std::to_string(x.infos.size()));
  }};
}

/// Three nodes, whose servers know that the process job:N runs on node N.
struct fixture {
  gateway_world world{3, [](gateway_settings& x) { x.user = 1000; }};
  std::vector<std::shared_ptr<node_script>> plays;
  std::vector<std::shared_ptr<size_t>> lent; // How many, on each node.
  std::vector<monitor_maker_actor> makers;
  std::shared_ptr<std::vector<std::string>> heard =
    std::make_shared<std::vector<std::string>>();
  start_monitor request;

  fixture() {
    request.number = 12;
    request.who.creds = {1000, 1000};
    request.proc = {"job", 1};
    for (uint32_t i = 0; i < world.size(); ++i) {
      world.users[i] = 1000;
      auto& sys = world[i].sys;
      plays.push_back(std::make_shared<node_script>());
      const auto kinds = std::make_shared<monitor_kinds>();
      kinds->add("probe", [&sys, play = plays.back()]() -> made_monitor {
        return sys.spawn(scripted, play);
      });
      auto options = monitor_maker_options{};
      options.here.kinds = kinds;
      lent.push_back(options.here.count);
      lend_monitors(sys, world[i].gateway, "probe", options.here);
      options.gateway = world[i].gateway;
      options.rank = i;
      options.server = [server = world[i].spawn(knows_places)] {
        return caf::actor_cast<server_actor>(server);
      };
      makers.push_back(spawn_monitor_maker(sys, std::move(options)));
      world[i].keep(caf::actor_cast<caf::actor>(makers.back()));
    }
    world.run();
  }

  ~fixture() {
    for (const auto& x : plays)
      x->user = nullptr;
    makers.clear();
    world.run();
  }

  static caf::behavior knows_places(caf::event_based_actor*) {
    return {
      [](const requester&, const get_request& x) -> caf::result<get_result> {
        if (x.target.nspace != "job" || x.key != std::string{attr::nodeid})
          return make_error(status::not_found);
        return get_result{
          {{x.target,
            {{std::string{attr::nodeid}, value::uint32(x.target.rank)}}}}};
      }};
  }

  caf::expected<monitor_actor> make(size_t where, make_monitor what) {
    return world.ask<monitor_actor>(where, makers[where], std::move(what));
  }

  /// One on node 1 for node 0.
  monitor_actor far() {
    auto made = make(0, {"probe", {"job", 1}, std::nullopt});
    CAF_REQUIRE(made);
    return *made;
  }

  monitor_user_actor spawn_user(size_t where) {
    return world[where].spawn(user, heard);
  }

  void begin(const monitor_actor& which, const monitor_user_actor& to) {
    CAF_CHECK(world.ask<ack>(0, which, request, to));
    CAF_REQUIRE(!plays[1]->started.empty());
  }

  /// What the monitor on node 1 finds.
  void alert(const std::string& why) {
    caf::anon_send(plays[1]->user,
                   monitor_alert{12, why, {{"pid", 0, value::uint32(7)}}});
    world.run();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(monitor_maker_tests, fixture)

CAF_TEST(C11.7 a monitor on the node of a process tells of it here) {
  const auto uut = far();
  CAF_CHECK(uut.node() != world[0].sys.node());
  const auto to = spawn_user(0);
  begin(uut, to);
  CAF_CHECK(plays[1]->started[0] == request);
  alert("stuck");
  CAF_CHECK((*heard == std::vector<std::string>{"12 stuck 1"}));
  CAF_CHECK(plays[0]->started.empty());
  CAF_CHECK(plays[2]->started.empty());
}

CAF_TEST(C11.7 one on this node or on a named node) {
  const auto here = make(0, {"probe", {"job", 0}, std::nullopt});
  CAF_REQUIRE(here);
  CAF_CHECK(here->node() == world[0].sys.node());
  CAF_CHECK_EQUAL(*lent[0], 1u);
  const auto named = make(0, {"probe", {}, 2});
  CAF_REQUIRE(named);
  CAF_CHECK_EQUAL(*lent[2], 1u);
  caf::anon_send_exit(*here, caf::exit_reason::user_shutdown);
  world.run();
}

CAF_TEST(C11.7 what cannot be made is refused) {
  CAF_CHECK(!make(0, {"nothing", {"job", 0}, std::nullopt}));
  CAF_CHECK(!make(0, {"nothing", {"job", 1}, std::nullopt}));
  const auto nowhere = make(0, {"probe", {"other", 1}, std::nullopt});
  CAF_REQUIRE(!nowhere);
  CAF_CHECK_EQUAL(status_of(nowhere.error()), status::not_found);
  CAF_CHECK(!make(0, {"probe", {"job", 7}, std::nullopt}));
  // In the words of the monitor.
  request.who.creds.uid = 0;
  const auto uut = far();
  const auto answer = world.ask<ack>(0, uut, request, spawn_user(0));
  CAF_REQUIRE(!answer);
  CAF_CHECK_EQUAL(status_of(answer.error()), status::bad_param);
  CAF_CHECK_EQUAL(reason_of(answer.error()), "not for you");
}

CAF_TEST(C11.7 the loss of its node is told once and after its alerts) {
  const auto uut = far();
  const auto to = spawn_user(0);
  begin(uut, to);
  world[0].keep(caf::actor_cast<caf::actor>(
    world[0].sys.spawn([uut, heard = heard](caf::event_based_actor* self) {
      self->monitor(uut);
      self->set_down_handler([heard](const caf::down_msg& x) {
        heard->push_back(x.reason == caf::exit_reason::remote_link_unreachable
                           ? "lost"
                           : "down");
      });
      return caf::behavior{[](caf::unit_t) {}};
    })));
  world.run();
  alert("stuck");
  world.kill(1);
  world.run();
  world.elapse(10s);
  CAF_CHECK((*heard == std::vector<std::string>{"12 stuck 1", "lost"}));
}

CAF_TEST(C11.7 it ends with whoever its alerts go to) {
  const auto uut = far();
  auto to = spawn_user(0);
  begin(uut, to);
  CAF_CHECK_EQUAL(*lent[1], 1u);
  caf::anon_send_exit(to, caf::exit_reason::user_shutdown);
  world.run();
  plays[1]->user = nullptr;
  world.run();
  CAF_CHECK_EQUAL(plays[1]->ends, 1u);
  CAF_CHECK_EQUAL(*lent[1], 0u);
}

CAF_TEST(C11.7 it ends with the node that it was made for) {
  const auto uut = far();
  begin(uut, spawn_user(0));
  world.kill(0);
  world.run();
  plays[1]->user = nullptr;
  world.run();
  CAF_CHECK_EQUAL(plays[1]->ends, 1u);
  CAF_CHECK_EQUAL(*lent[1], 0u);
}

CAF_TEST(C11.7 it is stopped as any other) {
  const auto uut = far();
  begin(uut, spawn_user(0));
  caf::anon_send(uut, stop_monitor{});
  world.run();
  CAF_CHECK_EQUAL(plays[1]->stops, 1u);
  plays[1]->user = nullptr;
  world.run();
  CAF_CHECK_EQUAL(plays[1]->ends, 1u);
}

CAF_TEST(C11.7 a node lends nothing to nodes of other users) {
  world.users[0] = 1001;
  CAF_CHECK(!make(0, {"probe", {"job", 1}, std::nullopt}));
  CAF_CHECK(make(2, {"probe", {"job", 1}, std::nullopt}));
}

CAF_TEST(C11.7 LIM7 a node lends no more than it may have of its own) {
  *lent[1] = defaults::monitors_per_node;
  CAF_CHECK(!make(0, {"probe", {"job", 1}, std::nullopt}));
  *lent[1] = defaults::monitors_per_node - 1;
  CAF_CHECK(make(0, {"probe", {"job", 1}, std::nullopt}));
}

CAF_TEST(C11.7 LIM7 a site may set how many monitors a node lends) {
  auto options = monitor_maker_options{};
  const auto kinds = std::make_shared<monitor_kinds>();
  kinds->add("probe", [this]() -> made_monitor {
    return world[0].sys.spawn(scripted, plays[0]);
  });
  options.here.kinds = kinds;
  options.here.most = 3;
  const auto count = options.here.count;
  makers[0] = spawn_monitor_maker(world[0].sys, std::move(options));
  world[0].keep(caf::actor_cast<caf::actor>(makers[0]));
  *count = 3;
  CAF_CHECK(!make(0, {"probe", {"job", 1}, std::nullopt}));
  *count = 2;
  const auto made = make(0, {"probe", {"job", 1}, std::nullopt});
  CAF_REQUIRE(made);
  caf::anon_send_exit(*made, caf::exit_reason::user_shutdown);
  world.run();
}

CAF_TEST(C11.7 a node that is alone makes its own) {
  auto options = monitor_maker_options{};
  const auto kinds = std::make_shared<monitor_kinds>();
  kinds->add("probe", [this]() -> made_monitor {
    return world[0].sys.spawn(scripted, plays[0]);
  });
  options.here.kinds = kinds;
  makers[0] = spawn_monitor_maker(world[0].sys, std::move(options));
  world[0].keep(caf::actor_cast<caf::actor>(makers[0]));
  const auto made = make(0, {"probe", {"job", 1}, std::nullopt});
  CAF_REQUIRE(made);
  caf::anon_send_exit(*made, caf::exit_reason::user_shutdown);
  world.run();
  CAF_CHECK_EQUAL(plays[0]->ends, 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
