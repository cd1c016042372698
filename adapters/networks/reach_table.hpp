#pragma once

#include "adapters/loop/timer.hpp"
#include "adapters/networks/network.hpp"
#include "adapters/networks/network_kernel.hpp"
#include "config/defaults.hpp"
#include "messages/lane.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace troupe {

/// Where to dial.
struct reach_end {
  /// Our own address.
  std::string from;

  /// The peer's.
  std::string to;
  uint16_t port = 0;
};

inline bool operator==(const reach_end& x, const reach_end& y) {
  return x.from == y.from && x.to == y.to && x.port == y.port;
}

/// A lane that should be there: between one of our networks and one of the
/// peer's.
struct reach_path {
  std::string network;
  std::string peer_network;

  /// The addresses of the peer's network that ours leads to; one lane is
  /// enough.
  std::vector<reach_end> ends;
};

/// An address that cannot be dialled.
struct unreached_address {
  std::string address;
  std::string reason;
};

struct reach_plan {
  std::vector<reach_path> paths;
  std::vector<unreached_address> failures;
};

using route_source =
  std::function<caf::expected<network_route>(const std::string& address)>;

/// Which lanes to open to a node. An address that is ours too is a subnet that
/// both nodes have for themselves, such as a bridge of containers, unless all
/// of them are: then the node is on this host. Everything else is asked of the
/// kernel, so that peers behind a gateway are reached as well.
/// Each kind of lanes has routes of its own: a name of a local socket leads to
/// daemons of this machine, and of another one nowhere.
/// Source: requirements O9, O10, O12, O16, L3, L6.
reach_plan plan_reach(const reach_node& node,
                      const std::vector<own_network>& own,
                      const route_source& route);

struct reach_times {
  /// Before a path is dialled again: the first time and at most, and how long a
  /// lane has to live for its path to begin anew.
  std::chrono::milliseconds retry_first{50};
  std::chrono::milliseconds retry_most{2000};
  std::chrono::milliseconds steady_lane{2000};

  /// The same of a path that had a lane until so long ago: its peer may be lost
  /// otherwise.
  std::chrono::milliseconds retry_lost{150};
  std::chrono::milliseconds lost_for = defaults::peer_grace;

  /// Time to connect, of the first attempt and at most. The kernel sends what
  /// was lost again after a second only, and what is sent on an interface that
  /// has just come up is often lost.
  std::chrono::milliseconds connect_first{100};
  std::chrono::milliseconds connect_most = defaults::lane_silence;

  /// Between two reports about one address.
  std::chrono::milliseconds report{1000};
};

/// Which nodes are to be reached, and what is being done about it: an attempt
/// for each path that has no lane. For the thread of the loop only.
class reach_table {
public:
  struct means {
    /// Whether a path may be dialled: it has no lane, and its node is not full.
    std::function<bool(uint32_t rank, const reach_path&)> may_dial;

    /// Dials, with so much time to connect.
    std::function<void(dial_id, const std::string& network, const reach_end&,
                       node_identity peer, std::chrono::milliseconds patience)>
      dial;

    std::function<void(dial_id, const std::string& network)> give_up;

    std::function<void(lane_failed)> report;

    route_source route;

    /// For the jitter of retries.
    std::function<uint64_t()> random;
  };

  reach_table(event_loop& loop, reach_times times, means use);

  /// Keep lanes open to a node.
  void reach(const reach_node& node, const std::vector<own_network>& own);

  void release(uint32_t rank);

  /// The node's networks or routes have changed.
  void review(const std::vector<own_network>& own);

  void on_dial_failed(dial_id id, const caf::error& why);

  /// A lane is there, by an attempt or without.
  void on_lane(dial_id id);

  /// A lane over this network is no more, after this time.
  void on_lane_end(uint32_t rank, const std::string& network,
                   std::chrono::nanoseconds lived);

  /// Those of all nodes to be reached.
  std::set<std::string> addresses() const;

  /// Attempts under way to a node.
  size_t dials_to(uint32_t rank) const;

private:
  using clock = std::chrono::steady_clock;

  struct attempt {
    attempt(event_loop& loop, std::function<void()> on_retry)
      : retry(loop, std::move(on_retry)) {
      // nop
    }

    reach_path path;

    /// Under way; 0 if none is.
    dial_id dial = 0;
    size_t next_end = 0;
    uint32_t failures = 0;

    /// When its last lane that lived for a while has ended.
    clock::time_point lost_at;
    timer retry;
  };

  /// Rank, our network, the peer's network.
  using path_id = std::tuple<uint32_t, std::string, std::string>;

  void review(const reach_node& node, const std::vector<own_network>& own);
  void advance(const path_id& id, attempt& x);
  void drop(std::map<path_id, attempt>::iterator i);
  void retry_later(attempt& x);
  bool was_lost(const attempt& x) const;
  std::chrono::milliseconds patience_of(const attempt& x) const;
  void report(uint32_t rank, const std::string& address,
              const std::string& reason);
  std::map<path_id, attempt>::iterator find(dial_id id);

  event_loop& loop_;
  reach_times times_;
  means use_;
  std::map<uint32_t, reach_node> nodes_;
  std::map<path_id, attempt> attempts_;

  /// When an address of a node was reported last.
  std::map<std::pair<uint32_t, std::string>, clock::time_point> reported_;
  dial_id last_dial_ = 0;
};

} // namespace troupe
