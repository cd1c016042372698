#pragma once

#include "config/defaults.hpp"
#include "messages/proc_id.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Among the directives of a fence, for the host: it ends the connection of its
/// processes.
inline constexpr std::string_view disconnecting_fence = "troupe.disconnects";

/// How much is kept of connected processes.
struct connection_limits {
  size_t sets = defaults::connected_sets;

  /// Sets with processes of the same namespace, so that no job uses up what
  /// others need.
  size_t sets_of_one = defaults::groups_per_namespace;

  /// The entries of all sets.
  size_t procs = size_t{1} << 20;
};

/// Which processes are connected: from `PMIx_Connect` to `PMIx_Disconnect`, or
/// until one of two jobs is over. A set that is connected twice is to be
/// disconnected twice. In which order processes are named makes no difference,
/// nor does naming one twice; a wildcard stands for all of its namespace.
/// Source: PMIx Standard v5, `PMIx_Connect`.
class connected_sets {
public:
  using procs = std::vector<proc_id>;

  explicit connected_sets(connection_limits bounds = {}) : bounds_(bounds) {
    // nop
  }

  /// Whether one more connection of these can be kept.
  bool has_room(procs which) const;

  /// Notes that these have connected.
  /// @param node Who says so: a set is connected while any node has said so
  ///             more often than it has said the opposite.
  /// @returns false if there is no room.
  bool connect(procs which, uint32_t node = 0);

  /// Notes that these have disconnected.
  /// @returns false if they were not connected.
  bool disconnect(procs which, uint32_t node = 0);

  bool contains(procs which) const;

  /// Those of other namespaces that a process is connected to, as they were
  /// named.
  procs peers_of(const proc_id& proc) const;

  /// The namespaces that end because a process of another has failed: those
  /// that it is connected to, and those that these are connected to.
  /// @param goes_on Whether a namespace survives the failure of others.
  /// @returns these in the order of their names, without that of `failed`.
  std::vector<std::string>
  ended_with(const proc_id& failed,
             const std::function<bool(const std::string&)>& goes_on) const;

  /// What a node has said counts no more: it is lost.
  void node_lost(uint32_t node);

  /// A job is over: nobody can be told of it, and nobody left of it.
  void forget(const std::string& nspace);

  size_t size() const {
    return sets_.size();
  }

  /// The entries of all sets.
  size_t num_procs() const {
    return num_procs_;
  }

private:
  struct record {
    procs which;
    std::set<std::string> namespaces;

    /// How often, by the node that says so.
    std::map<uint32_t, uint32_t> counts;
  };

  using id = uint64_t;

  void erase(id which);

  /// Those that name processes of this namespace.
  const std::set<id>* of(const std::string& nspace) const;

  connection_limits bounds_;
  size_t num_procs_ = 0;
  id next_ = 1;
  std::map<id, record> sets_;
  std::map<procs, id> ids_;
  std::map<std::string, std::set<id>> by_namespace_;
};

} // namespace troupe
