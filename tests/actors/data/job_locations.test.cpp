#include "actors/data/job_locations.hpp"

#include "tests/test.hpp"

#include <algorithm>
#include <random>

using namespace troupe;

namespace {

/// A job whose ranks run on these nodes, in their order.
job_map map_of(const std::string& nspace, const std::vector<uint32_t>& nodes) {
  auto shares = std::map<uint32_t, node_share>{};
  for (uint32_t rank = 0; rank < nodes.size(); ++rank) {
    auto& share = shares[nodes[rank]];
    share.node = nodes[rank];
    share.procs.push_back({rank, 0, {}});
  }
  auto result = job_map{};
  result.nspace = nspace;
  for (auto& [node, share] : shares)
    result.shares.push_back(std::move(share));
  return result;
}

using ranks = std::vector<uint32_t>;

} // namespace

CAF_TEST(regular layouts cost the same whatever their size) {
  for (const auto by_node : {false, true}) {
    auto nodes = ranks{};
    for (uint32_t rank = 0; rank < 10000; ++rank)
      nodes.push_back(by_node ? 3 + rank % 100 : 3 + rank / 100);
    auto subject = job_locations{};
    subject.add(map_of("a", nodes));
    CAF_CHECK_EQUAL(subject.cost_of("a"), 1u);
    for (uint32_t rank = 0; rank < 10000; ++rank)
      CAF_REQUIRE_EQUAL(subject.node_of({"a", rank}).value_or(99999),
                        nodes[rank]);
    CAF_CHECK(!subject.node_of({"a", 10000}));
    CAF_CHECK_EQUAL(subject.nodes_of("a").size(), 100u);
  }
}

CAF_TEST(any layout is kept as it is) {
  auto random = std::mt19937{1};
  for (auto round = 0; round < 300; ++round) {
    auto nodes = ranks(1 + random() % 40);
    const auto width = 1 + random() % 8;
    for (auto& node : nodes)
      node = random() % width;
    if (random() % 2 == 0)
      std::sort(nodes.begin(), nodes.end());
    auto subject = job_locations{};
    subject.add(map_of("a", nodes));
    for (uint32_t rank = 0; rank < nodes.size(); ++rank) {
      CAF_REQUIRE_EQUAL(subject.node_of({"a", rank}).value_or(99999),
                        nodes[rank]);
      const auto row = subject.row_from({"a", rank});
      CAF_REQUIRE(row > 0 && row <= nodes.size() - rank);
      for (uint32_t i = 0; i < row; ++i)
        CAF_REQUIRE_EQUAL(nodes[rank + i], nodes[rank]);
    }
    CAF_CHECK_EQUAL(subject.size_of("a"), nodes.size());
    auto all = nodes;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    CAF_CHECK_EQUAL(subject.nodes_of("a"), all);
    for (const auto node : all) {
      auto here = ranks{};
      for (uint32_t rank = 0; rank < nodes.size(); ++rank)
        if (nodes[rank] == node)
          here.push_back(rank);
      CAF_CHECK_EQUAL(subject.ranks_on(node, "a"), here);
    }
  }
}

CAF_TEST(processes and wildcards are on these nodes) {
  auto subject = job_locations{};
  subject.add(map_of("a", {2, 2, 5}));
  subject.add(map_of("b", {5, 7}));
  const auto nodes = [&](const std::vector<proc_id>& procs) {
    return subject.nodes_of(procs);
  };
  CAF_CHECK_EQUAL(nodes({{"a", 0}, {"a", 1}}), (ranks{2}));
  CAF_CHECK_EQUAL(nodes({{"a", rank_wildcard}, {"b", 1}}), (ranks{2, 5, 7}));
  CAF_CHECK_EQUAL(nodes({{"a", 9}, {"c", 0}, {"a", rank_undef}}), (ranks{}));
  const auto here =
    subject.procs_on(5, {{"b", rank_wildcard}, {"a", rank_wildcard}});
  CAF_CHECK_EQUAL(here, (std::vector<proc_id>{{"a", 2}, {"b", 0}}));
  CAF_CHECK_EQUAL(subject.first_unknown({{"a", 0}, {"c", 1}}).value_or(""),
                  "c");
  CAF_CHECK(!subject.first_unknown({{"a", 0}}));
}

CAF_TEST(a job is forgotten or mapped anew) {
  auto subject = job_locations{};
  subject.add(map_of("a", {0, 1}));
  subject.add(map_of("a", {0, 2}));
  CAF_CHECK_EQUAL(subject.nodes_of("a"), (ranks{0, 2}));
  subject.remove("a");
  CAF_CHECK(!subject.knows("a"));
  CAF_CHECK(!subject.node_of({"a", 0}));
  CAF_CHECK(subject.nodes_of("a").empty());
  subject.add(map_of("none", {}));
  CAF_CHECK(subject.nodes_of("none").empty());
  CAF_CHECK(!subject.node_of({"none", 0}));
}

CAF_TEST(a map with a rank twice counts the first) {
  auto map = map_of("a", {0, 1});
  map.shares[1].procs.push_back({0, 0, {}});
  auto subject = job_locations{};
  subject.add(map);
  CAF_CHECK_EQUAL(subject.node_of({"a", 0}).value_or(99999), 0u);
  CAF_CHECK_EQUAL(subject.node_of({"a", 1}).value_or(99999), 1u);
}

CAF_TEST(I16 the host of a process is the name of its node) {
  auto subject = job_locations{};
  auto map = map_of("a", {0, 2, 2});
  for (auto& share : map.shares)
    share.hostname = "n" + std::to_string(share.node);
  subject.add(map);
  CAF_CHECK_EQUAL(subject.host_of({"a", 0}), "n0");
  CAF_CHECK_EQUAL(subject.host_of({"a", 2}), "n2");
  CAF_CHECK_EQUAL(subject.host_of({"a", 3}), "");
  CAF_CHECK_EQUAL(subject.host_of({"a", rank_wildcard}), "");
  CAF_CHECK_EQUAL(subject.host_of({"b", 0}), "");
  subject.remove("a");
  CAF_CHECK_EQUAL(subject.host_of({"a", 0}), "");
}

CAF_TEST(rows of hosts leave out those that are lost) {
  auto subject = job_locations{};
  subject.add(map_of("a", {1, 2, 3, 4, 7, 8, UINT32_MAX}));
  CAF_CHECK_EQUAL(subject.rows_of_hosts("a").runs().size(), 3u);
  for (const auto node : {1u, 3u, 8u, UINT32_MAX})
    subject.node_lost(node);
  CAF_CHECK_EQUAL(subject.hosts_of("a"), (ranks{2, 4, 7}));
  CAF_CHECK_EQUAL(subject.rows_of_hosts("a").runs().size(), 3u);
  CAF_CHECK_EQUAL(subject.first_node_of("a").value_or(0), 1u);
  for (const auto node : {2u, 4u, 7u})
    subject.node_lost(node);
  CAF_CHECK(subject.rows_of_hosts("a").empty());
  CAF_CHECK(subject.rows_of_hosts("b").empty());
  CAF_CHECK(!subject.first_node_of("b"));
}
