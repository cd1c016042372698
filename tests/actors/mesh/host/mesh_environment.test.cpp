// Events of the environment over the nodes of a DVM.

#include "messages/attributes.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

using list = std::vector<status>;

const auto nspace = std::string{"server@1"};

constexpr auto hot = status::temperature_high;

/// Where a question stands in `host_question`.
template <class T, size_t I = 0>
constexpr size_t index_of_question() {
  if constexpr (std::is_same_v<std::variant_alternative_t<I, host_question>, T>)
    return I;
  else
    return index_of_question<T, I + 1>();
}

struct fixture : deterministic {
  mesh_hosts mesh{*this, 4};
  std::vector<peer_ptr> ranks;

  fixture() {
    // Two processes a node; no job ends with a node.
    CAF_REQUIRE_EQUAL(spawn(8), nspace);
    for (uint32_t rank = 0; rank < 8; ++rank)
      ranks.push_back(mesh.connect(rank / 2, nspace, rank));
    consume_messages();
    mesh.questions.clear();
  }

  /// @returns the name of the job.
  std::string spawn(int32_t size) {
    auto job = job_host::program(
      size, {with(attr::job_recoverable, value::boolean(true))});
    const auto x = mesh.spawn(std::move(job));
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    return x->value.nspace;
  }

  void enroll(const peer_ptr& who, uint32_t node, list codes) {
    const auto x = mesh[node].uut->ask<ack>(
      who, register_events_request{std::move(codes), {}});
    consume_messages();
    CAF_CHECK_EQUAL(x->code, status::success);
  }

  void enroll(uint32_t rank, list codes) {
    enroll(ranks[rank], rank / 2, std::move(codes));
  }

  void withdraw(uint32_t rank, list codes) {
    caf::anon_send(ranks[rank]->session,
                   deregister_events_request{std::move(codes)});
    consume_messages();
  }

  /// A sensor of a node tells.
  void raise(uint32_t node, status code) {
    caf::anon_send(mesh[node].host, environment_event{code, {}});
    consume_messages();
  }

  static list codes(const peer_ptr& who) {
    auto result = list{};
    for (const auto& x : who->wire->events)
      result.push_back(x.code);
    who->wire->events.clear();
    return result;
  }

  list codes(uint32_t rank) {
    return codes(ranks[rank]);
  }

  size_t told() {
    return mesh.questions[index_of_question<environment_event>()];
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_environment_tests, fixture)

CAF_TEST(E4 E48 an event of a node goes to the nodes that registered) {
  enroll(2, {hot});
  enroll(3, {hot});
  enroll(7, {hot});
  for (uint32_t from = 0; from < 4; ++from) {
    raise(from, hot);
    for (uint32_t rank = 0; rank < 8; ++rank) {
      const auto wants = rank == 2 || rank == 3 || rank == 7;
      CAF_CHECK_EQUAL(codes(rank).size(), wants ? 1u : 0u);
    }
  }
  // Once to each node: from the root 2, from node 1 2, from 2 3, from 3 2.
  CAF_CHECK_EQUAL(told(), 9u);
}

CAF_TEST(E4 without a registration nothing goes anywhere) {
  raise(1, hot);
  raise(0, hot);
  CAF_CHECK_EQUAL(told(), 0u);
  enroll(4, {hot});
  withdraw(4, {hot});
  raise(1, hot);
  CAF_CHECK_EQUAL(told(), 0u);
  CAF_CHECK(codes(4).empty());
}

CAF_TEST(E48 an event says on which node it arose) {
  enroll(0, {hot});
  raise(3, hot);
  CAF_REQUIRE_EQUAL(ranks[0]->wire->events.size(), 1u);
  const auto& x = ranks[0]->wire->events[0];
  CAF_CHECK(number<uint32_t>(x.infos, attr::nodeid) == 3u);
  CAF_CHECK(flag(x.infos, attr::event_non_default));
  CAF_CHECK(x.source == (proc_id{{}, rank_undef}));
}

CAF_TEST(E45 nodes that come and go are events at the nodes that registered) {
  // A tool has lost no process.
  const auto uninvolved = mesh[0].uut->connect(node::tool_greeting());
  consume_messages();
  enroll(uninvolved, 0, {status::event_node_down, status::node_up});
  mesh.lose(3);
  consume_messages();
  CAF_REQUIRE_EQUAL(uninvolved->wire->events.size(), 1u);
  const auto x = uninvolved->wire->events[0];
  CAF_CHECK(x.code == status::event_node_down);
  CAF_CHECK(text(x.infos, attr::hostname) == "n3");
  CAF_CHECK(number<uint32_t>(x.infos, attr::nodeid) == 3u);
  CAF_CHECK(find(x.infos, "troupe.event.except") == nullptr);
  mesh.fence(3, mesh[3].incarnation);
  mesh.rejoin(3);
  consume_messages();
  CAF_CHECK(codes(uninvolved)
            == (list{status::event_node_down, status::node_up}));
}

CAF_TEST(E45 a job that loses processes with a node hears of it once) {
  for (uint32_t rank = 0; rank < 6; ++rank)
    enroll(rank, {status::event_node_down});
  mesh.lose(3);
  consume_messages();
  for (uint32_t rank = 0; rank < 6; ++rank)
    CAF_CHECK(codes(rank) == list{status::event_node_down});
}

CAF_TEST(E4 a node that joins hears what others want) {
  enroll(1, {hot});
  mesh.lose(3);
  mesh.fence(3, mesh[3].incarnation);
  mesh.rejoin(3);
  consume_messages();
  codes(1);
  raise(3, hot);
  CAF_CHECK(codes(1) == list{hot});
}

CAF_TEST_FIXTURE_SCOPE_END()
