#include "actors/mesh/exchange/mesh_collectives.hpp"

#include "actors/mesh/exchange/defaults.hpp"
#include "config/defaults.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>

using namespace troupe;

namespace {

const auto nspace = std::string{"job"};

/// Nodes with a process each, and what they send each other.
struct cluster {
  struct message {
    uint32_t from;
    uint32_t to;
    host_question what;
  };

  job_locations places;
  std::vector<std::unique_ptr<mesh_collectives>> nodes;
  std::deque<message> sent;
  std::vector<size_t> sends;
  size_t most_bits = 0;
  std::vector<std::string> located;
  std::vector<std::string> told;

  explicit cluster(uint32_t size, uint32_t outsiders = 0) {
    auto map = job_map{};
    map.nspace = nspace;
    for (uint32_t rank = 0; rank < size; ++rank)
      map.shares.push_back({rank, "", {{rank, 0, {}}}});
    places.add(map);
    sends.resize(size + outsiders);
    for (uint32_t rank = 0; rank < size + outsiders; ++rank) {
      auto out = mesh_collectives::effects{};
      out.tell = [this, rank](uint32_t to, host_question what) {
        ++sends[rank];
        if (const auto* part = std::get_if<collective_part>(&what))
          most_bits = std::max(most_bits, part->joined.size());
        sent.push_back({rank, to, std::move(what)});
      };
      out.locate = [this](const std::string& name) { located.push_back(name); };
      out.is_live = [](uint32_t) { return true; };
      nodes.push_back(
        std::make_unique<mesh_collectives>(rank, places, std::move(out)));
    }
  }

  static host_collective tolerant(uint64_t generation) {
    auto x = fence(generation);
    x.is_fault_tolerant = true;
    return x;
  }

  /// A node is lost with its process and all that is on its way.
  void lose(uint32_t rank) {
    sent.erase(std::remove_if(sent.begin(), sent.end(),
                              [&](const message& x) {
                                return x.from == rank || x.to == rank;
                              }),
               sent.end());
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (i != rank)
        nodes[i]->node_lost(rank);
  }

  static host_collective fence(uint64_t generation) {
    auto x = host_collective{};
    x.procs = {{nspace, rank_wildcard}};
    x.generation = generation;
    return x;
  }

  void join(uint32_t rank, host_collective what) {
    nodes[rank]->join(
      std::move(what),
      [this, rank](const caf::expected<host_collective_result>& x) {
        told.push_back(std::to_string(rank)
                       + (x ? " ok" : " " + to_string(status_of(x.error()))));
      });
  }

  void deliver(message x) {
    if (auto* part = std::get_if<collective_part>(&x.what))
      nodes[x.to]->take(x.from, std::move(*part));
    else
      nodes[x.to]->take(x.from,
                        std::move(std::get<collective_outcome>(x.what)));
  }

  void run() {
    while (!sent.empty()) {
      auto x = std::move(sent.front());
      sent.pop_front();
      deliver(std::move(x));
    }
  }

  void join_all(uint64_t generation, uint32_t size) {
    for (uint32_t rank = 0; rank < size; ++rank)
      join(rank, fence(generation));
    run();
  }
};

collective_part part_of(const std::string& name, uint64_t generation,
                        std::vector<bool> joined) {
  auto x = collective_part{};
  x.id = {collective_kind::fence, {{name, rank_wildcard}}, generation};
  x.joined = std::move(joined);
  return x;
}

} // namespace

CAF_TEST(P-C1 LOAD-2 a fence costs a node as much at any size) {
  for (const auto size : {1u, 8u, 9u, 72u, 73u, 585u, 4097u}) {
    auto x = cluster{size};
    x.join_all(1, size);
    CAF_CHECK_EQUAL(x.told.size(), size);
    const auto total =
      std::accumulate(x.sends.begin(), x.sends.end(), size_t{});
    CAF_CHECK_EQUAL(total, 2u * (size - 1));
    const auto most = *std::max_element(x.sends.begin(), x.sends.end());
    CAF_CHECK(most <= defaults::tree_radix + 1);
    // Nobody says of each node whether it has joined.
    CAF_CHECK_EQUAL(x.most_bits, 0u);
    for (const auto& node : x.nodes)
      CAF_REQUIRE_EQUAL(node->open(), 0u);
  }
}

CAF_TEST(COLL-5 a stranger changes nothing) {
  auto x = cluster{3, 1};
  x.join(0, cluster::fence(1));
  x.nodes[0]->take(3, part_of(nspace, 1, {true, true, true}));
  x.nodes[0]->take(1, part_of(nspace, 1, {true, true, true, true, true}));
  auto lie = collective_outcome{};
  lie.id = {collective_kind::fence, {{nspace, rank_wildcard}}, 1};
  x.nodes[0]->take(3, lie);
  CAF_CHECK(x.told.empty());
  x.join(1, cluster::fence(1));
  x.join(2, cluster::fence(1));
  x.run();
  CAF_CHECK_EQUAL(x.told.size(), 3u);
}

CAF_TEST(COLL-5 data comes only from nodes that have joined with it) {
  auto x = cluster{3};
  auto got = std::vector<proc_data>{};
  x.nodes[0]->join(
    cluster::fence(1),
    [&](caf::expected<host_collective_result> y) { got = std::move(y->data); });
  auto part = part_of(nspace, 1, {false, true, false});
  // Its own process, one of another node, one that nobody knows.
  part.data = {
    {1, pack_data({{{nspace, 1}, {}}, {{nspace, 2}, {}}, {{"x", 0}, {}}})},
    {2, pack_data({{{nspace, 2}, {}}})},
    {7, pack_data({{{nspace, 1}, {}}})},
    {1, "no data"}};
  x.nodes[0]->take(1, part);
  x.nodes[0]->take(1, part);
  x.nodes[0]->take(2, part_of(nspace, 1, {false, false, true}));
  CAF_REQUIRE_EQUAL(got.size(), 1u);
  CAF_CHECK(got.front().proc == (proc_id{nspace, 1}));
}

CAF_TEST(LOAD-2 parts of jobs that are not known yet are bounded) {
  auto x = cluster{2};
  for (uint64_t i = 1; i <= 2 * defaults::parked_collectives; ++i)
    x.nodes[0]->take(1, part_of("new", i, {true}));
  CAF_CHECK_EQUAL(x.nodes[0]->open(), defaults::parked_collectives);
  CAF_CHECK_EQUAL(x.located, std::vector<std::string>{"new"});
  x.nodes[0]->job_unknown("new", "no job new");
  CAF_CHECK_EQUAL(x.nodes[0]->open(), 0u);
  // Who had sent them is told.
  CAF_CHECK_EQUAL(x.sent.size(), defaults::parked_collectives);
}

CAF_TEST(COLL-3 parts wait until their job is known) {
  auto x = cluster{2};
  auto part = part_of("new", 1, {false, true});
  x.nodes[0]->take(1, part);
  auto what = cluster::fence(1);
  what.procs = {{"new", rank_wildcard}};
  x.join(0, what);
  CAF_CHECK(x.told.empty());
  auto map = job_map{};
  map.nspace = "new";
  map.shares = {{0, "", {{0, 0, {}}}}, {1, "", {{1, 0, {}}}}};
  x.places.add(map);
  x.nodes[0]->job_known("new");
  CAF_CHECK_EQUAL(x.told, std::vector<std::string>{"0 ok"});
}

CAF_TEST(COLL-1 a question waits until its job is known and is answered then) {
  auto places = job_locations{};
  auto map = job_map{};
  map.nspace = "b";
  map.shares = {{1, "", {{0, 0, {}}}}};
  places.add(map);
  auto replies = std::vector<collective_part>{};
  auto out = mesh_collectives::effects{};
  out.tell = [&](uint32_t to, host_question what) {
    CAF_REQUIRE_EQUAL(to, 0u);
    replies.push_back(std::get<collective_part>(std::move(what)));
  };
  out.locate = [](const std::string&) {};
  out.is_live = [](uint32_t) { return true; };
  auto node = mesh_collectives{1, places, std::move(out)};
  auto part = collective_part{};
  part.id = {
    collective_kind::connect, {{"a", rank_wildcard}, {"b", rank_wildcard}}, 1};
  part.all_below_of = 3;
  node.take(2, part);
  node.procs_gone({{{"b", 0}, proc_state::aborted_by_sig}});
  part.all_below_of = 0;
  part.is_question = true;
  node.take(0, part);
  CAF_CHECK(replies.empty());
  map.nspace = "a";
  map.shares = {{0, "", {{0, 0, {}}}}, {2, "", {{1, 0, {}}}}};
  places.add(map);
  node.job_known("a");
  CAF_REQUIRE(!replies.empty());
  CAF_CHECK_EQUAL(replies.back().failure, status::lost_connection);
  CAF_CHECK_EQUAL(replies.back().reason, "b:0 had ended");
}

CAF_TEST(COLL-1 LOAD-2 outcomes are remembered and forgotten in turn) {
  auto x = cluster{2};
  const auto most = defaults::collective_outcomes;
  for (uint64_t i = 1; i <= most + 10; ++i)
    x.join_all(i, 2);
  CAF_CHECK_EQUAL(x.nodes[0]->remembered(), most);
  // A late repeat gets what is remembered, or an error: it never waits.
  x.nodes[0]->take(1, part_of(nspace, most + 10, {false, true}));
  x.nodes[0]->take(1, part_of(nspace, 1, {false, true}));
  CAF_REQUIRE_EQUAL(x.sent.size(), 2u);
  const auto& known = std::get<collective_outcome>(x.sent[0].what);
  const auto& unknown = std::get<collective_outcome>(x.sent[1].what);
  CAF_CHECK_EQUAL(known.code, status::success);
  CAF_CHECK_EQUAL(unknown.code, status::not_available);
  CAF_CHECK_EQUAL(x.nodes[0]->open(), 0u);
}

CAF_TEST(COLL-4 O18 nothing is kept of a job that is over) {
  auto x = cluster{3};
  x.join_all(1, 3);
  x.join(1, cluster::fence(2));
  x.told.clear();
  for (const auto& node : x.nodes)
    node->job_forgotten(nspace);
  CAF_CHECK_EQUAL(x.told,
                  std::vector<std::string>{"1 PMIX_ERR_LOST_CONNECTION"});
  for (const auto& node : x.nodes) {
    CAF_CHECK_EQUAL(node->open(), 0u);
    CAF_CHECK_EQUAL(node->remembered(), 0u);
  }
}

CAF_TEST(COLL-2 who comes to a failed operation is told at once) {
  auto x = cluster{3};
  auto gives_up = cluster::fence(1);
  gives_up.failure = status::timeout;
  x.join(2, gives_up);
  x.run();
  CAF_CHECK_EQUAL(x.told, std::vector<std::string>{"2 PMIX_ERR_TIMEOUT"});
  x.join(1, cluster::fence(1));
  CAF_CHECK_EQUAL(x.told.back(), "1 PMIX_ERR_TIMEOUT");
  x.told.clear();
  x.join_all(2, 3);
  CAF_CHECK_EQUAL(x.told.size(), 3u);
}

CAF_TEST(P-C2 the second root asks what the first one has decided) {
  auto x = cluster{3};
  for (uint32_t rank = 0; rank < 3; ++rank)
    x.join(rank, cluster::fence(1));
  // The root hears of all and tells node 2 only.
  for (auto i = 0; i < 2; ++i) {
    auto y = std::move(x.sent.front());
    x.sent.pop_front();
    x.nodes[0]->take(y.from, std::move(std::get<collective_part>(y.what)));
  }
  CAF_REQUIRE_EQUAL(x.sent.size(), 2u);
  CAF_CHECK_EQUAL(x.sent.front().to, 1u);
  x.sent.pop_front();
  x.run();
  CAF_CHECK_EQUAL(x.told, (std::vector<std::string>{"0 ok", "2 ok"}));
  x.nodes[2]->node_lost(0);
  x.nodes[1]->node_lost(0);
  x.run();
  CAF_CHECK_EQUAL(x.told.back(), "1 ok");
}

CAF_TEST(G53 a tolerant fence goes on without processes and nodes) {
  // Edge case 168: the only participant of node 1 ends before it has joined;
  // node 9 below it is not reached through it only.
  auto x = cluster{12};
  for (const auto rank : {0u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u})
    x.join(rank, cluster::tolerant(1));
  x.run();
  CAF_CHECK(x.told.empty());
  for (const auto& node : x.nodes)
    node->procs_gone({{{nspace, 1}, proc_state::aborted_by_sig}});
  x.run();
  CAF_CHECK(x.told.empty());
  x.lose(11);
  x.run();
  CAF_CHECK_EQUAL(x.told.size(), 10u);
  for (const auto& y : x.told)
    CAF_CHECK(y.find(" ok") != std::string::npos);
  for (uint32_t rank = 0; rank < 11; ++rank)
    CAF_CHECK_EQUAL(x.nodes[rank]->open(), 0u);
}

CAF_TEST(G53 COLL-1 who asks a root that does not know it is one is answered) {
  // Node 9 is below node 1, and takes nothing from node 0 any more.
  auto x = cluster{10};
  for (uint32_t rank = 0; rank < 10; ++rank)
    x.join(rank, cluster::tolerant(1));
  auto outcome = std::optional<cluster::message>{};
  while (!x.sent.empty()) {
    auto next = std::move(x.sent.front());
    x.sent.pop_front();
    if (next.from == 0 && next.to == 1)
      outcome = std::move(next);
    else
      x.deliver(std::move(next));
  }
  CAF_REQUIRE(outcome);
  x.nodes[9]->node_lost(0);
  x.run();
  x.told.clear();
  x.deliver(std::move(*outcome));
  x.run();
  CAF_CHECK_EQUAL(x.told, (std::vector<std::string>{"1 ok", "9 ok"}));
  CAF_CHECK_EQUAL(x.nodes[9]->open(), 0u);
}

CAF_TEST(G53 a tolerant fence brings the data of those that are left) {
  auto x = cluster{4};
  auto got = std::vector<proc_data>{};
  for (const auto rank : {1u, 2u, 3u}) {
    auto what = cluster::tolerant(1);
    what.data = {{{nspace, rank}, {{"key", value::uint32(rank)}}}};
    x.nodes[rank]->join(std::move(what),
                        [&got](caf::expected<host_collective_result> y) {
                          got = std::move(y->data);
                        });
  }
  // What they had sent to their root is lost with it; the next one asks.
  x.lose(0);
  x.run();
  CAF_CHECK_EQUAL(got.size(), 2u);
  for (const auto rank : {1u, 2u, 3u})
    CAF_CHECK_EQUAL(x.nodes[rank]->open(), 0u);
}

CAF_TEST(G53 A33 168 fences over a group end when a member leaves it) {
  const auto salt = uint64_t{77} << 32;
  for (const auto is_tolerant : {true, false}) {
    auto x = cluster{3};
    const auto named = [&](uint64_t n) {
      return is_tolerant ? cluster::tolerant(salt | n)
                         : cluster::fence(salt | n);
    };
    for (const auto rank : {0u, 1u}) {
      x.join(rank, named(1));
      x.join(rank, cluster::fence(1));
    }
    for (const auto& node : x.nodes)
      node->procs_left(salt, {{nspace, 2}}, "left group grp");
    x.run();
    const auto ending = is_tolerant ? " ok" : " PMIX_ERR_LOST_CONNECTION";
    std::sort(x.told.begin(), x.told.end());
    CAF_CHECK_EQUAL(x.told,
                    (std::vector<std::string>{std::string{"0"} + ending,
                                              std::string{"1"} + ending}));
    // It takes part in what is none of the group's business.
    x.told.clear();
    x.join(2, cluster::fence(1));
    x.run();
    CAF_CHECK_EQUAL(x.told.size(), 3u);
    CAF_CHECK_EQUAL(x.nodes[2]->open(), 0u);
  }
}

CAF_TEST(G53 who has joined a fence may leave the group before it is over) {
  const auto salt = uint64_t{77} << 32;
  auto x = cluster{3};
  x.join(2, cluster::fence(salt | 1));
  for (const auto& node : x.nodes)
    node->procs_left(salt, {{nspace, 2}}, "left group grp");
  x.join(0, cluster::fence(salt | 1));
  x.join(1, cluster::fence(salt | 1));
  x.run();
  CAF_CHECK_EQUAL(x.told.size(), 3u);
  CAF_CHECK_EQUAL(x.told.front().substr(2), "ok");
}

CAF_TEST(G53 one that asks for it makes a fence tolerant) {
  auto x = cluster{3};
  x.join(0, cluster::fence(1));
  x.join(1, cluster::tolerant(1));
  x.run();
  x.lose(2);
  x.run();
  CAF_CHECK_EQUAL(x.told, (std::vector<std::string>{"0 ok", "1 ok"}));
  x.join(0, cluster::fence(2));
  x.join(1, cluster::fence(2));
  x.run();
  CAF_CHECK_EQUAL(x.told.size(), 4u);
  CAF_CHECK_EQUAL(x.told.back().substr(2), "PMIX_ERR_LOST_CONNECTION");
}
