#include "actors/mesh/members/node.hpp"

#include "actors/mesh/sessions/session_handshake.hpp"
#include "messages/interfaces/remoting.hpp"
#include "messages/mesh_payload.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/test.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

/// What a NODE has told its networks and its user.
struct record {
  std::vector<reach_node> reached;
  std::vector<uint32_t> released;
  std::vector<lane_id> adopted;
  std::map<lane_id, lane_user_actor> users;
  std::vector<drop_lane> dropped;
  std::vector<put_lane_frame> frames;
  std::vector<member_message> messages;
  std::vector<member_changed> changes;
  std::vector<mesh_duty_changed> duties;
};

networks_actor::behavior_type networks(networks_actor::pointer, record* out) {
  return {
    [=](const reach_node& x) { out->reached.push_back(x); },
    [=](const release_node& x) { out->released.push_back(x.rank); },
    [=](lane_id x, const lane_user_actor& user) {
      out->adopted.push_back(x);
      out->users[x] = user;
    },
    [=](put_lane_frame& x) { out->frames.push_back(std::move(x)); },
    [=](const drop_lane& x) { out->dropped.push_back(x); },
  };
}

mesh_user_actor::behavior_type user(mesh_user_actor::pointer, record* out) {
  return {
    [=](member_message& x) { out->messages.push_back(std::move(x)); },
    [=](const member_changed& x) { out->changes.push_back(x); },
    [](const member_fenced&) {},
    [=](const mesh_duty_changed& x) { out->duties.push_back(x); },
  };
}

struct fixture : deterministic {
  record out;
  node_actor node;
  std::vector<std::string> log;

  ~fixture() override {
    out.users.clear();
    self->send_exit(node, caf::exit_reason::user_shutdown);
    consume_messages();
  }

  node_time boot_time() {
    return node_time{sched.clock().current_time.time_since_epoch()} + 100s;
  }

  void start(uint32_t rank) {
    auto options = node_options{};
    options.rank = rank;
    options.membership.name = "n" + std::to_string(rank);
    options.membership.incarnation = 100 + rank;
    if (rank == 0)
      options.membership.names = {"n0", "n1", "n2"};
    options.root_name = "n0";
    options.root_addresses = {{"eth0", "10.0.0.1", 1}};
    options.clock = [this] {
      return steady_time{sched.clock().current_time.time_since_epoch()};
    };
    options.boot_clock = [this] { return boot_time(); };
    options.make_token = [] { return session_token{{1, 2, 3}}; };
    options.make_networks = [this](const lane_owner_actor&) {
      return sys.spawn(networks, &out);
    };
    options.log = [this](severity, const std::string& x) { log.push_back(x); };
    node = spawn_node(sys, options);
    self->send(node, sys.spawn(user, &out));
    consume_messages();
    CAF_CHECK(out.changes.empty());
    self->send(node, networks_changed{{{"eth0", "10.0.0.9", 99}}});
    consume_messages();
  }

  void open(lane_id id, uint32_t rank, std::string name,
            bool is_dialled = false, std::optional<uint32_t> user = {}) {
    auto x = lane_opened{};
    x.lane = id;
    x.rank = rank;
    x.name = std::move(name);
    x.remote = "10.0.0.7:5";
    x.is_dialled = is_dialled;
    x.user = user;
    self->send(node, x);
    consume_messages();
  }

  static lane_frame_arrived hello(lane_id id, incarnation who) {
    auto token = session_token{};
    token.fill(9);
    return {id, hello_frame{{who, 1, token}, {{2, 0}, 0, {}}, {}}};
  }

  /// The other end of a lane says who it is.
  void greet(lane_id id, incarnation who) {
    self->send(out.users.at(id), hello(id, who));
    consume_messages();
  }

  /// Node 2 becomes a member, over lane 1 to the root, with 1 as another one.
  /// @returns the root's side of their session, which has said one thing of the
  ///          class of the membership.
  session_handshake join(std::optional<uint32_t> user_of_root = {}) {
    open(1, 0, "n0", true, user_of_root);
    const auto ours = std::get<hello_frame>(out.frames.back().frame).sender;
    auto root =
      session_handshake{{0, 100}, ours.of, [] { return session_token{{9}}; }};
    root.hear(ours, {{0, 100}, 0, {}});
    self->send(out.users.at(1),
               lane_frame_arrived{1, hello_frame{root.own(), ours, {}}});
    // The time of our question, which is when we heard of the root.
    auto welcome = node_welcome{2, 7, {}, boot_time()};
    for (auto rank : {0u, 1u, 2u})
      welcome.rows.push_back(
        {rank, "n" + std::to_string(rank), 100 + rank, node_state::live, 7});
    say(root, traffic_class::membership, 1, to_payload(node_message{welcome}));
    return root;
  }

  /// A node says something on lane 1.
  void say(const session_handshake& who, traffic_class of, uint64_t number,
           std::string what) {
    self->send(out.users.at(1),
               lane_frame_arrived{1, said(who, of, number, std::move(what))});
    consume_messages();
  }

  static lane_frame said(const session_handshake& who, traffic_class of,
                         uint64_t number, std::string what) {
    return data_frame{
      who.outgoing(),
      of,
      number,
      {},
      make_payload(std::make_shared<const std::string>(std::move(what)))};
  }

  /// A node may be sent so much on lane 1.
  void give_credit(const session_handshake& who) {
    auto room = acknowledgement{};
    room.classes = all_classes;
    room.next.fill(1);
    room.limit.fill(uint64_t{1} << 20);
    self->send(out.users.at(1),
               lane_frame_arrived{1, ack_frame{who.outgoing(), room}});
    consume_messages();
  }

  size_t sessions() {
    return request<mesh_status>(node, get_mesh_status{}).peers.size();
  }

  send_to_member to(uint32_t rank, uint64_t incarnation = 0) {
    auto x = send_to_member{};
    x.rank = rank;
    x.incarnation = incarnation;
    x.what = host_call{1, 0, 0, {}, {}, share_ended{"job"}};
    return x;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(node_tests, fixture)

CAF_TEST(P-M1 the root is a member at once and talks to itself) {
  start(0);
  CAF_REQUIRE_EQUAL(out.changes.size(), 1u);
  CAF_CHECK_EQUAL(out.changes[0].rank, 0u);
  CAF_CHECK(out.duties.back().now == mesh_duty::active);
  self->send(node, to(0));
  self->send(node, to(0, 100));
  self->send(node, to(0, 99));
  self->send(node, to(1));
  self->send(node, to(77));
  consume_messages();
  CAF_CHECK_EQUAL(out.messages.size(), 2u);
  const auto status = request<mesh_status>(node, get_mesh_status{});
  CAF_CHECK_EQUAL(status.members.size(), 3u);
  CAF_CHECK_EQUAL(status.members[0].addresses.size(), 1u);
  CAF_CHECK_EQUAL(status.addresses.size(), 1u);
  CAF_CHECK(status.peers.empty());
}

CAF_TEST(O9 everybody learns where the root takes lanes) {
  start(0);
  self->send(node, networks_changed{{{"eth0", "fe80::1", 7}}});
  elapse(1s);
  const auto status = request<mesh_status>(node, get_mesh_status{});
  CAF_CHECK_EQUAL(status.epoch, 2u);
  CAF_CHECK_EQUAL(status.members[0].addresses.at(0).address, "fe80::1");
  CAF_CHECK_EQUAL(out.changes.size(), 1u);
}

CAF_TEST(X40 a lane of a node that the list does not have is dropped) {
  start(0);
  open(1, 1, "n1");
  CAF_CHECK_EQUAL(out.adopted.size(), 1u);
  open(2, 1, "n2");
  open(3, 7, "n7");
  open(4, 0, "n0");
  CAF_CHECK_EQUAL(out.adopted.size(), 1u);
  CAF_CHECK_EQUAL(out.dropped.size(), 3u);
  CAF_CHECK_EQUAL(log.size(), 4u);
}

CAF_TEST(X36 nothing is said on the lane of a stranger before it speaks) {
  start(0);
  open(1, 1, "n1");
  elapse(10s);
  CAF_CHECK(out.frames.empty());
}

CAF_TEST(a daemon dials the root with the addresses it was given) {
  start(2);
  CAF_REQUIRE_EQUAL(out.reached.size(), 1u);
  CAF_CHECK_EQUAL(out.reached[0].rank, 0u);
  CAF_CHECK_EQUAL(out.reached[0].name, "n0");
  CAF_CHECK_EQUAL(out.reached[0].addresses.at(0).address, "10.0.0.1");
  open(1, 0, "n0", true);
  CAF_REQUIRE(!out.frames.empty());
  const auto* hello = std::get_if<hello_frame>(&out.frames[0].frame);
  CAF_REQUIRE(hello != nullptr);
  CAF_CHECK_EQUAL(hello->sender.of.node, 2u);
  CAF_CHECK_EQUAL(hello->sender.of.boot, 102u);
  // Nobody else is the root.
  open(2, 0, "n1", true);
  CAF_CHECK_EQUAL(out.dropped.size(), 1u);
}

CAF_TEST(P-M1 LINK-1 lanes of one daemon make one session whoever dials first) {
  start(2);
  open(1, 0, "n0", true);
  // The root dials us, too, and its word is here first.
  open(7, 0, "n0");
  greet(7, {0, 100});
  CAF_CHECK_EQUAL(sessions(), 1u);
  greet(1, {0, 100});
  CAF_CHECK_EQUAL(sessions(), 1u);
  CAF_CHECK(out.dropped.empty());
}

CAF_TEST(P-M1 LINK-1 another start of the root has a session of its own) {
  start(2);
  open(1, 0, "n0", true);
  open(7, 0, "n0");
  // Both speak before anybody has told the node of the first.
  self->send(out.users.at(7), hello(7, {0, 101}));
  greet(1, {0, 100});
  CAF_CHECK_EQUAL(sessions(), 2u);
}

CAF_TEST(who cannot reach the root leaves within a second) {
  start(2);
  open(1, 0, "n0", true);
  auto reply = self->request(node, caf::infinite, leave_mesh{});
  elapse(1500ms);
  auto is_answered = false;
  reply.receive([&](ack) { is_answered = true; },
                [](const caf::error&) { CAF_FAIL("refused"); });
  CAF_CHECK(is_answered);
  CAF_CHECK_EQUAL(out.released.size(), 1u);
  // Nothing is left to do.
  elapse(10s);
  CAF_CHECK(!sched.has_pending_timeout());
}

CAF_TEST(ACT-4 to who is fenced all other nodes are lost) {
  start(2);
  auto told = std::map<uint32_t, node_state>{};
  const auto gateway = sys.spawn([&](caf::event_based_actor*) {
    return caf::behavior{
      [&](const member_changed& x) { told[x.rank] = x.state; },
    };
  });
  self->send(node, caf::actor_cast<gateway_actor>(gateway));
  // It is welcomed, and the root is heard of no more.
  join();
  CAF_REQUIRE(out.duties.back().now == mesh_duty::active);
  CAF_CHECK(told.at(0) == node_state::live);
  elapse(60s);
  CAF_REQUIRE(out.duties.back().now == mesh_duty::fenced);
  CAF_CHECK(told.at(0) == node_state::lost);
  // Nor does one that comes later reach anybody.
  told.clear();
  self->send(node, caf::actor_cast<gateway_actor>(gateway));
  consume_messages();
  CAF_CHECK(told.empty());
  self->send_exit(gateway, caf::exit_reason::user_shutdown);
}

CAF_TEST(ACT-16 what a node is said to have sent is of no user) {
  start(2);
  auto users = std::vector<std::optional<uint32_t>>{};
  const auto gateway = sys.spawn([&](caf::event_based_actor*) {
    return caf::behavior{
      [](const member_changed&) {},
      [&](const actor_bundle& x) { users.push_back(x.user); },
    };
  });
  self->send(node, caf::actor_cast<gateway_actor>(gateway));
  const auto root = join(1000);
  give_credit(root);
  const auto words = std::string{gateway_payload} + "words";
  say(root, traffic_class::actors, 1, words);
  CAF_REQUIRE_EQUAL(users.size(), 1u);
  CAF_CHECK(users[0] == 1000u);
  // Node 1 has shown whose it is, too; and the root says it passes on what that
  // one says.
  open(7, 1, "n1", false, 1001);
  greet(7, {1, 101});
  auto forger = session_handshake{
    {1, 101}, {2, 102}, [] { return session_token{{77}}; }, 1000};
  auto number = uint64_t{0};
  const auto pass_on = [&](lane_frame x) {
    out.frames.clear();
    say(root, traffic_class::control, ++number,
        to_payload(relayed_frame{1, 2, 0, 0, std::move(x)}));
  };
  const auto listen = [&] {
    for (const auto& x : out.frames) {
      const auto* data = std::get_if<data_frame>(&x.frame);
      if (data == nullptr)
        continue;
      const auto payload = read_payload(bytes_of(data->payload));
      const auto* relayed =
        payload ? std::get_if<relayed_frame>(&*payload) : nullptr;
      const auto* hello = relayed != nullptr
                            ? std::get_if<hello_frame>(&relayed->frame)
                            : nullptr;
      if (hello != nullptr)
        forger.hear(hello->sender, hello->receiver);
    }
  };
  for (auto i = 0; i < 3; ++i) {
    pass_on(hello_frame{forger.own(), forger.peer(), {}});
    listen();
  }
  CAF_REQUIRE(forger.is_agreed());
  pass_on(said(forger, traffic_class::actors, 1, words));
  CAF_REQUIRE_EQUAL(users.size(), 2u);
  CAF_CHECK(!users[1]);
  self->send_exit(gateway, caf::exit_reason::user_shutdown);
}

CAF_TEST_FIXTURE_SCOPE_END()
