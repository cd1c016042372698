#include "adapters/metrics/node_metrics.hpp"

#include "actors/mesh/host/mesh_report.hpp"
#include "base/escape.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

using label_list = std::vector<std::pair<std::string, std::string>>;

/// The label of all peers that have no series of their own.
constexpr auto other_peers = std::string_view{"(others)"};

/// Gauges of this name are of one peer each.
constexpr auto peer_gauges = std::string_view{"mesh.to."};

/// What those are called together.
constexpr auto peer_queue = std::string_view{"mesh.to"};

/// A family that is being made.
class family_maker {
public:
  explicit family_maker(std::vector<metric_family>& to) : to_(to) {
    // nop
  }

  void begin(std::string_view name, metric_kind kind, std::string_view help) {
    to_.push_back({std::string{name}, std::string{help}, kind, {}});
  }

  void add(double value, label_list labels = {}) {
    // Of names that come from other nodes one that is not UTF-8 would have
    // Prometheus drop all that the node tells.
    for (auto& [name, content] : labels)
      content = escape_control_characters(content);
    to_.back().samples.push_back({std::move(labels), value});
  }

  /// A family of one sample.
  void one(std::string_view name, metric_kind kind, std::string_view help,
           double value, label_list labels = {}) {
    begin(name, kind, help);
    add(value, std::move(labels));
  }

private:
  std::vector<metric_family>& to_;
};

// -- gauges -------------------------------------------------------------------

struct gauge_metric {
  std::string_view gauge;
  std::string_view family;
  metric_kind kind;
  std::string_view label;
  std::string_view value;
  std::string_view help;
};

constexpr gauge_metric gauge_metrics[] = {
#define TROUPE_GAUGE_METRIC(gauge, family, kind, label, value, help)           \
  {gauge, family, metric_kind::kind, label, value, help},
#include "adapters/metrics/gauge_metrics.def"
#undef TROUPE_GAUGE_METRIC
};

bool has_family(const gauge& x) {
  return std::any_of(std::begin(gauge_metrics), std::end(gauge_metrics),
                     [&](const auto& y) { return y.gauge == x.name; });
}

bool is_of_peer(const gauge& x) {
  return x.name.compare(0, peer_gauges.size(), peer_gauges) == 0;
}

void add_gauges(const std::vector<gauge>& gauges, family_maker& out) {
  auto current = std::string_view{};
  for (const auto& x : gauge_metrics) {
    const auto i =
      std::find_if(gauges.begin(), gauges.end(),
                   [&](const auto& y) { return y.name == x.gauge; });
    if (i == gauges.end())
      continue;
    if (std::exchange(current, x.family) != x.family) {
      // The first row of a family has its help, also if its gauge is not there.
      const auto* first =
        std::find_if(std::begin(gauge_metrics), std::end(gauge_metrics),
                     [&](const auto& y) { return y.family == x.family; });
      out.begin(x.family, x.kind, first->help);
    }
    auto labels = label_list{};
    if (!x.label.empty())
      labels.emplace_back(x.label, x.value);
    out.add(static_cast<double>(i->value), std::move(labels));
  }
}

/// A row for all queues to other nodes: that of the fullest.
std::optional<gauge> fullest_to_peers(const std::vector<gauge>& gauges) {
  auto result = std::optional<gauge>{};
  for (const auto& x : gauges)
    if (is_of_peer(x) && (!result || x.value > result->value))
      result = x;
  if (result)
    result->name = peer_queue;
  return result;
}

void add_queues(const std::vector<gauge>& gauges, family_maker& out) {
  // By name, each once: two samples of the same labels would be no metrics.
  auto queues = std::map<std::string, gauge>{};
  for (const auto& x : gauges)
    if (!is_of_peer(x) && (x.bound > 0 || !has_family(x)))
      queues.emplace(x.name, x);
  if (auto x = fullest_to_peers(gauges))
    queues.emplace(x->name, std::move(*x));
  const auto labels_of = [](const gauge& x) {
    return label_list{{"queue", x.name}, {"unit", x.unit}};
  };
  if (queues.empty())
    return;
  out.begin("troupe_queue_fill", metric_kind::gauge,
            "How full what can grow is, in its unit");
  for (const auto& [name, x] : queues)
    out.add(static_cast<double>(x.value), labels_of(x));
  const auto is_bounded = [](const auto& x) { return x.second.bound > 0; };
  if (std::none_of(queues.begin(), queues.end(), is_bounded))
    return;
  out.begin("troupe_queue_bound", metric_kind::gauge,
            "The most that it may hold");
  for (const auto& [name, x] : queues)
    if (x.bound > 0)
      out.add(static_cast<double>(x.bound), labels_of(x));
}

// -- the node -----------------------------------------------------------------

void add_node(const mesh_status& node, const std::string& dvm,
              family_maker& out) {
  out.one(
    "troupe_node_info", metric_kind::gauge,
    "The node of the daemon: its name, and its rank in the DVM", 1,
    {{"dvm", dvm}, {"node", node.name}, {"rank", std::to_string(node.rank)}});
  out.begin("troupe_node_duty", metric_kind::gauge,
            "1 for what the node may do: a suspended one takes no work");
  for (const auto x : {mesh_duty::joining, mesh_duty::active,
                       mesh_duty::suspended, mesh_duty::fenced})
    out.add(x == node.duty ? 1 : 0, {{"duty", std::string{text_of(x)}}});
  // One that is alone has no list.
  if (node.members.empty())
    return;
  out.one("troupe_membership_epoch", metric_kind::gauge,
          "Number of the list of members that the node has",
          static_cast<double>(node.epoch));
  out.begin("troupe_members", metric_kind::gauge,
            "Members of the DVM by state, as the node knows them");
  for (const auto x : {node_state::expected, node_state::live, node_state::lost,
                       node_state::left}) {
    const auto count =
      std::count_if(node.members.begin(), node.members.end(),
                    [&](const auto& y) { return y.state == x; });
    out.add(static_cast<double>(count), {{"state", std::string{text_of(x)}}});
  }
}

// -- peers and lanes ----------------------------------------------------------

/// The lanes to a peer on one network.
struct network_lanes {
  size_t all = 0;
  size_t usable = 0;

  /// The least of those that are usable.
  std::optional<std::chrono::nanoseconds> round_trip;
};

std::map<std::string, network_lanes> networks_of(const peer_status& peer) {
  auto result = std::map<std::string, network_lanes>{};
  for (const auto& x : peer.lanes) {
    if (result.count(x.network) == 0
        && result.size() == defaults::metric_networks)
      continue;
    auto& to = result[x.network];
    ++to.all;
    if (!x.is_usable)
      continue;
    ++to.usable;
    if (x.round_trip.count() > 0)
      to.round_trip =
        std::min(to.round_trip.value_or(x.round_trip), x.round_trip);
  }
  return result;
}

void add_counts(peer_status& to, const peer_status& x) {
  to.sent += x.sent;
  to.resent += x.resent;
  to.delivered += x.delivered;
  to.duplicates += x.duplicates;
  to.failovers += x.failovers;
  to.waiting_bytes += x.waiting_bytes;
}

/// The peers by rank: those of one are sessions with daemons of one node, of
/// which one is about to go.
std::vector<peer_status> peers_by_rank(const std::vector<peer_status>& all) {
  auto found = std::map<uint32_t, peer_status>{};
  for (const auto& x : all) {
    const auto [i, is_new] = found.emplace(x.rank, x);
    if (is_new)
      continue;
    auto& to = i->second;
    add_counts(to, x);
    to.is_connected |= x.is_connected;
    to.lanes.insert(to.lanes.end(), x.lanes.begin(), x.lanes.end());
  }
  auto result = std::vector<peer_status>{};
  auto names = std::set<std::string>{std::string{other_peers}};
  for (auto& [rank, x] : found) {
    // Two of one name would be series of the same labels, which no parser takes.
    if (!names.insert(x.name).second)
      names.insert(x.name += " (rank " + std::to_string(rank) + ")");
    result.push_back(std::move(x));
  }
  return result;
}

/// Those that have series of their own, and one for all others, which is
/// connected if all of them are.
std::vector<peer_status> shown_peers(std::vector<peer_status> peers) {
  if (peers.size() <= defaults::metric_peers)
    return peers;
  auto rest = peer_status{};
  rest.name = other_peers;
  rest.is_connected = true;
  for (auto i = defaults::metric_peers; i < peers.size(); ++i) {
    add_counts(rest, peers[i]);
    rest.is_connected &= peers[i].is_connected;
  }
  peers.resize(defaults::metric_peers);
  peers.push_back(std::move(rest));
  return peers;
}

/// What is told of each peer.
struct peer_metric {
  std::string_view family;
  metric_kind kind;
  std::string_view help;
  uint64_t peer_status::*value;
};

constexpr peer_metric peer_metrics[] = {
  {"troupe_peer_messages_sent_total", metric_kind::counter,
   "Messages sent to a node, those that were sent again among them",
   &peer_status::sent},
  {"troupe_peer_messages_resent_total", metric_kind::counter,
   "Messages sent to a node again", &peer_status::resent},
  {"troupe_peer_messages_delivered_total", metric_kind::counter,
   "Messages of a node that were delivered", &peer_status::delivered},
  {"troupe_peer_messages_duplicate_total", metric_kind::counter,
   "Messages of a node that came twice and were dropped",
   &peer_status::duplicates},
  {"troupe_peer_failovers_total", metric_kind::counter,
   "How often traffic to a node has left a lane that had failed",
   &peer_status::failovers},
  {"troupe_peer_waiting_bytes", metric_kind::gauge,
   "Bytes that wait for a node, or that it has not acknowledged",
   &peer_status::waiting_bytes},
};

void add_lanes(const std::vector<peer_status>& peers, family_maker& out) {
  auto lanes = std::vector<std::pair<label_list, network_lanes>>{};
  auto is_known = false;
  for (const auto& peer : peers)
    for (auto& [network, x] : networks_of(peer)) {
      is_known |= x.round_trip.has_value();
      lanes.emplace_back(label_list{{"peer", peer.name}, {"network", network}},
                         x);
    }
  if (lanes.empty())
    return;
  out.begin("troupe_lanes", metric_kind::gauge,
            "Connections to a node on a network; one that is lost is no more");
  for (const auto& [labels, x] : lanes)
    out.add(static_cast<double>(x.all), labels);
  out.begin("troupe_lanes_usable", metric_kind::gauge,
            "Those of them that traffic may ride");
  for (const auto& [labels, x] : lanes)
    out.add(static_cast<double>(x.usable), labels);
  if (!is_known)
    return;
  out.begin("troupe_lane_round_trip_seconds", metric_kind::gauge,
            "The least smoothed round trip of those that are usable");
  for (const auto& [labels, x] : lanes)
    if (x.round_trip)
      out.add(std::chrono::duration<double>{*x.round_trip}.count(), labels);
}

void add_peers(const mesh_status& node, family_maker& out) {
  auto all = peers_by_rank(node.peers);
  if (all.empty())
    return;
  const auto connected = std::count_if(
    all.begin(), all.end(), [](const auto& x) { return x.is_connected; });
  out.begin("troupe_peers", metric_kind::gauge,
            "Nodes that the daemon speaks to, by whether there is a way");
  out.add(static_cast<double>(connected), {{"connected", "yes"}});
  out.add(static_cast<double>(all.size()) - static_cast<double>(connected),
          {{"connected", "no"}});
  const auto peers = shown_peers(std::move(all));
  out.begin("troupe_peer_connected", metric_kind::gauge,
            "Whether there is a way to a node");
  for (const auto& x : peers)
    out.add(x.is_connected ? 1 : 0, {{"peer", x.name}});
  for (const auto& metric : peer_metrics) {
    out.begin(metric.family, metric.kind, metric.help);
    for (const auto& x : peers)
      out.add(static_cast<double>(x.*metric.value), {{"peer", x.name}});
  }
  add_lanes(peers, out);
}

// -- the daemon ---------------------------------------------------------------

void add_daemon(const daemon_facts& x, std::vector<metric_family>& to,
                family_maker& out) {
  out.one("troupe_build_info", metric_kind::gauge, "The release of the daemon",
          1, {{"version", x.version}});
  out.one("process_cpu_seconds_total", metric_kind::counter,
          "Processor time that the daemon has taken",
          std::chrono::duration<double>{x.cpu_time}.count());
  out.one("process_start_time_seconds", metric_kind::gauge,
          "When the daemon started, in seconds since 1970", x.start_time);
  out.one("process_open_fds", metric_kind::gauge,
          "Descriptors that the daemon has",
          static_cast<double>(x.descriptors));
  out.one("process_max_fds", metric_kind::gauge, "Descriptors that it may have",
          static_cast<double>(x.most_descriptors));
  const auto& seen = x.loop_latency;
  out.begin("troupe_loop_latency_seconds", metric_kind::histogram,
            "How late the loop of the daemon does what is due");
  auto sample = metric_sample{};
  sample.value = seen.sum();
  sample.count = seen.count();
  for (size_t i = 0; i < latency_histogram::bounds.size(); ++i)
    sample.buckets.emplace_back(latency_histogram::bounds[i], seen.at_most(i));
  to.back().samples.push_back(std::move(sample));
}

} // namespace

std::vector<metric_family> node_metrics(const mesh_status& node,
                                        const daemon_facts& daemon) {
  auto result = std::vector<metric_family>{};
  auto out = family_maker{result};
  add_daemon(daemon, result, out);
  add_node(node, daemon.dvm, out);
  add_gauges(node.gauges, out);
  add_queues(node.gauges, out);
  add_peers(node, out);
  return result;
}

} // namespace troupe
