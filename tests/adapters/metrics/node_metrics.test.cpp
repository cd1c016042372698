// What a node says of itself as metrics: all of it, nothing twice, and no more
// series than are bounded.

#include "adapters/metrics/node_metrics.hpp"

#include "tests/test.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using families = std::vector<metric_family>;

const metric_family* find(const families& all, const std::string& name) {
  const auto i = std::find_if(all.begin(), all.end(),
                              [&](const auto& x) { return x.name == name; });
  return i != all.end() ? &*i : nullptr;
}

/// Labels as text: `peer=n1 network=eth0`.
std::string labels_of(const metric_sample& x) {
  auto result = std::string{};
  for (const auto& [name, content] : x.labels)
    result += (result.empty() ? "" : " ") + name + "=" + content;
  return result;
}

/// The samples of a family by their labels.
std::map<std::string, double> samples(const families& all,
                                      const std::string& name) {
  auto result = std::map<std::string, double>{};
  if (const auto* family = find(all, name))
    for (const auto& x : family->samples)
      result[labels_of(x)] = x.value;
  return result;
}

peer_status peer(uint32_t rank, std::vector<lane_status> lanes = {}) {
  auto result = peer_status{};
  result.rank = rank;
  result.name = "n" + std::to_string(rank);
  result.is_connected = true;
  result.lanes = std::move(lanes);
  result.sent = 100 + rank;
  result.failovers = rank;
  return result;
}

lane_status lane(const std::string& network, bool is_usable,
                 std::chrono::nanoseconds round_trip) {
  auto result = lane_status{};
  result.network = network;
  result.is_usable = is_usable;
  result.round_trip = round_trip;
  return result;
}

mesh_status example() {
  auto result = mesh_status{};
  result.rank = 3;
  result.name = "n3";
  result.epoch = 17;
  result.duty = mesh_duty::active;
  result.members = {{0, "n0", 1, node_state::live},
                    {1, "n1", 2, node_state::lost},
                    {3, "n3", 3, node_state::live}};
  result.peers = {
    peer(0, {lane("eth0", true, 300us), lane("eth0", true, 200us),
             lane("eth0", false, 100us), lane("eth1", false, 50us)}),
    peer(1)};
  result.peers.back().is_connected = false;
  result.gauges = {{"root.jobs", 2, 0, "jobs"},
                   {"root.jobs_begun", 5, 0, "jobs"},
                   {"monitors.all", 4, 10, "monitors"},
                   {"gateway.refused_full", 7, 0, "messages"},
                   {"host.calls", 1, 64, "calls"},
                   {"host.gets", 9, 0, "requests"},
                   {"mesh.to.n0", 11, 1000, "bytes"},
                   {"mesh.to.n1", 12, 1000, "bytes"}};
  return result;
}

families metrics(const mesh_status& x) {
  auto facts = daemon_facts{};
  facts.version = "1.2.3";
  facts.dvm = "lab";
  facts.cpu_time = 1500ms;
  facts.descriptors = 40;
  facts.loop_latency.note(30ms);
  return node_metrics(x, facts);
}

/// A name of a metric and of its labels. Source: OpenMetrics 1.0, "ABNF".
bool is_name(const std::string& x) {
  return !x.empty() && x.front() >= 'a' && x.front() <= 'z'
         && x.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_")
              == std::string::npos;
}

size_t count_series(const families& all) {
  auto result = size_t{0};
  for (const auto& x : all)
    result += x.samples.size();
  return result;
}

/// What any parser of metrics demands.
void check_form(const families& all) {
  auto names = std::set<std::string>{};
  for (const auto& x : all) {
    CAF_MESSAGE(x.name);
    CAF_CHECK(is_name(x.name));
    CAF_CHECK(names.insert(x.name).second);
    CAF_CHECK(!x.help.empty());
    CAF_CHECK(x.help.find_first_of("\"\\\n") == std::string::npos);
    CAF_CHECK(!x.samples.empty());
    const auto ends_in_total =
      x.name.size() > 6 && x.name.substr(x.name.size() - 6) == "_total";
    CAF_CHECK_EQUAL(ends_in_total, x.kind == metric_kind::counter);
    auto series = std::set<std::string>{};
    for (const auto& y : x.samples) {
      CAF_CHECK(series.insert(labels_of(y)).second);
      for (const auto& [label, content] : y.labels)
        CAF_CHECK(is_name(label));
    }
  }
}

} // namespace

CAF_TEST(OBS-1 metrics have the form that parsers demand) {
  check_form(metrics(example()));
  check_form(metrics(mesh_status{}));
}

CAF_TEST(LOAD-2 gauges are metrics by their names) {
  const auto x = metrics(example());
  CAF_CHECK_EQUAL(samples(x, "troupe_jobs").at(""), 2);
  CAF_CHECK_EQUAL(samples(x, "troupe_jobs_started_total").at(""), 5);
  CAF_CHECK_EQUAL(samples(x, "troupe_monitors").at("kind=process"), 4);
  // The first of its family is not there, and yet it has a help.
  CAF_CHECK_EQUAL(samples(x, "troupe_gateway_refused_total").at("reason=full"),
                  7);
  CAF_CHECK(!find(x, "troupe_gateway_refused_total")->help.empty());
  CAF_CHECK(find(x, "troupe_jobs_failed_total") == nullptr);
}

CAF_TEST(LOAD-2 what has a bound is a queue and so is what has no name) {
  const auto x = metrics(example());
  const auto fill = samples(x, "troupe_queue_fill");
  const auto bound = samples(x, "troupe_queue_bound");
  CAF_CHECK_EQUAL(fill.at("queue=host.calls unit=calls"), 1);
  CAF_CHECK_EQUAL(bound.at("queue=host.calls unit=calls"), 64);
  CAF_CHECK_EQUAL(fill.at("queue=host.gets unit=requests"), 9);
  CAF_CHECK_EQUAL(bound.count("queue=host.gets unit=requests"), 0u);
  CAF_CHECK_EQUAL(bound.at("queue=monitors.all unit=monitors"), 10);
  CAF_CHECK_EQUAL(fill.count("queue=root.jobs unit=jobs"), 0u);
  // Of those to other nodes the fullest counts.
  CAF_CHECK_EQUAL(fill.at("queue=mesh.to unit=bytes"), 12);
  CAF_CHECK_EQUAL(bound.at("queue=mesh.to unit=bytes"), 1000);
  CAF_CHECK_EQUAL(fill.size(), 4u);
}

CAF_TEST(LOAD-2 lanes are counted by peer and network) {
  const auto x = metrics(example());
  CAF_CHECK_EQUAL(samples(x, "troupe_lanes").at("peer=n0 network=eth0"), 3);
  CAF_CHECK_EQUAL(samples(x, "troupe_lanes_usable").at("peer=n0 network=eth0"),
                  2);
  CAF_CHECK_EQUAL(samples(x, "troupe_lanes_usable").at("peer=n0 network=eth1"),
                  0);
  const auto round_trips = samples(x, "troupe_lane_round_trip_seconds");
  CAF_CHECK_EQUAL(round_trips.size(), 1u);
  CAF_CHECK_EQUAL(round_trips.at("peer=n0 network=eth0"), 0.0002);
  CAF_CHECK_EQUAL(samples(x, "troupe_peers").at("connected=yes"), 1);
  CAF_CHECK_EQUAL(samples(x, "troupe_peers").at("connected=no"), 1);
  CAF_CHECK_EQUAL(samples(x, "troupe_peer_connected").at("peer=n1"), 0);
  CAF_CHECK_EQUAL(samples(x, "troupe_peer_failovers_total").at("peer=n1"), 1);
}

CAF_TEST(LOAD-2 a node says what it may do and who is there) {
  const auto x = metrics(example());
  CAF_CHECK_EQUAL(samples(x, "troupe_node_info").at("dvm=lab node=n3 rank=3"),
                  1);
  CAF_CHECK_EQUAL(samples(x, "troupe_node_duty").at("duty=active"), 1);
  CAF_CHECK_EQUAL(samples(x, "troupe_node_duty").at("duty=fenced"), 0);
  CAF_CHECK_EQUAL(samples(x, "troupe_members").at("state=live"), 2);
  CAF_CHECK_EQUAL(samples(x, "troupe_members").at("state=lost"), 1);
  CAF_CHECK_EQUAL(samples(x, "troupe_build_info").at("version=1.2.3"), 1);
  CAF_CHECK_EQUAL(samples(x, "process_cpu_seconds_total").at(""), 1.5);
  const auto& late = find(x, "troupe_loop_latency_seconds")->samples.at(0);
  CAF_CHECK_EQUAL(late.count, 1u);
  CAF_CHECK_EQUAL(late.buckets.front().second, 0u);
  CAF_CHECK_EQUAL(late.buckets.back().second, 1u);
}

CAF_TEST(two daemons of a node that follow each other are one peer) {
  auto node = example();
  node.peers = {peer(1, {lane("eth0", true, 1ms)}),
                peer(1, {lane("eth0", false, 0ms)})};
  node.peers.back().is_connected = false;
  const auto x = metrics(node);
  check_form(x);
  CAF_CHECK_EQUAL(samples(x, "troupe_peer_connected").at("peer=n1"), 1);
  CAF_CHECK_EQUAL(samples(x, "troupe_peer_messages_sent_total").at("peer=n1"),
                  202);
  CAF_CHECK_EQUAL(samples(x, "troupe_lanes").at("peer=n1 network=eth0"), 2);
}

CAF_TEST(names of others cannot spoil what a node tells) {
  auto node = example();
  node.peers = {peer(1, {lane("eth0", true, 1ms)}),
                peer(2, {lane("eth\xff\n", true, 1ms)}), peer(3)};
  node.peers[1].name = "n1";
  node.peers[2].name = "(others)";
  const auto x = metrics(node);
  check_form(x);
  const auto sent = samples(x, "troupe_peer_messages_sent_total");
  CAF_CHECK_EQUAL(sent.at("peer=n1"), 101);
  CAF_CHECK_EQUAL(sent.at("peer=n1 (rank 2)"), 102);
  CAF_CHECK_EQUAL(sent.at("peer=(others) (rank 3)"), 103);
  CAF_CHECK_EQUAL(
    samples(x, "troupe_lanes").at("peer=n1 (rank 2) network=eth\\xff\\n"), 1);
}

CAF_TEST(OBS-2 the series of many peers are bounded and lose no count) {
  const auto node_with = [](uint32_t peers) {
    auto result = mesh_status{};
    result.name = "n0";
    auto lanes = std::vector<lane_status>{};
    for (auto i = 0; i < 40; ++i)
      lanes.push_back(lane("eth" + std::to_string(i), true, 1ms));
    for (uint32_t rank = peers; rank > 0; --rank) {
      result.peers.push_back(peer(rank, lanes));
      result.gauges.push_back(
        {"mesh.to.n" + std::to_string(rank), rank, 1000, "bytes"});
    }
    return result;
  };
  const auto some = metrics(node_with(100));
  const auto many = metrics(node_with(5000));
  check_form(many);
  CAF_CHECK_EQUAL(count_series(many), count_series(some));
  auto sum = 0.0;
  for (const auto& [labels, sent] :
       samples(many, "troupe_peer_messages_sent_total"))
    sum += sent;
  CAF_CHECK_EQUAL(sum, 5000.0 * 100 + 5000.0 * 5001 / 2);
  CAF_CHECK_EQUAL(samples(many, "troupe_peers").at("connected=yes"), 5000);
  CAF_CHECK(samples(many, "troupe_lanes").size()
            <= defaults::metric_peers * defaults::metric_networks);
}
