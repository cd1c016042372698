#pragma once

#include "messages/mesh.hpp"
#include "messages/rank_list.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// Which node each process of each known job runs on. Regular layouts (slot by
/// slot, node by node, on nodes in a row) cost the same whatever their size.
/// Source: guarantees, section 7, "job map".
class job_locations {
public:
  /// Never null.
  using node_list = std::shared_ptr<const std::vector<uint32_t>>;

  /// Takes the map of a job; of one that is known, its new map.
  void add(const job_map& map);

  /// A node is lost: what runs there from now on, if it comes back, is none of
  /// the jobs that are known.
  void node_lost(uint32_t node);

  /// Forgets a job.
  void remove(const std::string& nspace);

  bool knows(const std::string& nspace) const {
    return jobs_.count(nspace) > 0;
  }

  /// The first namespace among `procs` that is not known.
  std::optional<std::string>
  first_unknown(const std::vector<proc_id>& procs) const;

  /// The node of one process; nothing for those that are not known and for
  /// ranks that stand for several.
  std::optional<uint32_t> node_of(const proc_id& proc) const;

  /// The name of that node; empty: not known.
  std::string host_of(const proc_id& proc) const;

  /// The nodes of a job; none if it is not known. Ascending.
  std::vector<uint32_t> nodes_of(const std::string& nspace) const;

  /// Those of a job that are not lost. Ascending.
  std::vector<uint32_t> hosts_of(const std::string& nspace) const {
    return rows_of_hosts(nspace);
  }

  /// Those that are. Ascending.
  std::vector<uint32_t> lost_of(const std::string& nspace) const;

  /// As `hosts_of`, for who looks at a few of them: nodes in a row are one.
  rank_list rows_of_hosts(const std::string& nspace) const;

  /// The first of the nodes of a job, lost or not; nothing if it is not known.
  std::optional<uint32_t> first_node_of(const std::string& nspace) const;

  /// The nodes that run any of these processes; a wildcard stands for its
  /// whole namespace, and what is not known for nothing. Ascending.
  std::vector<uint32_t> nodes_of(const std::vector<proc_id>& procs) const;

  /// The same for whoever keeps them: of all of a job there is one list.
  node_list list_of(const std::vector<proc_id>& procs) const;

  /// Those of `procs`, wildcards spelt out, that run on a node. Ascending.
  std::vector<proc_id> procs_on(uint32_t node,
                                const std::vector<proc_id>& procs) const;

  /// All ranks of a job on a node. Ascending.
  std::vector<uint32_t> ranks_on(uint32_t node,
                                 const std::string& nspace) const;

  /// The number of processes of a job; 0 if it is not known.
  uint32_t size_of(const std::string& nspace) const;

  /// How many ranks in a row, this one and those behind it, run on one node, or
  /// are none of the job: at least 1.
  uint32_t row_from(const proc_id& proc) const;

  /// One more than the last of the nodes of all jobs there have been; 0 if
  /// there has been none.
  uint32_t end_of_nodes() const;

  std::vector<std::string> nspaces() const;

  /// What is kept for a job, in entries of a few bytes.
  size_t cost_of(const std::string& nspace) const;

private:
  /// Ranks in a row on one node.
  struct run {
    uint32_t first = 0;
    uint32_t count = 0;
    uint32_t node = 0;
  };

  /// Nodes in a row.
  struct node_run {
    uint32_t first = 0;
    uint32_t count = 0;
  };

  struct layout {
    /// Number of processes.
    uint32_t size = 0;

    /// All nodes of the job, ascending.
    std::vector<node_run> nodes;

    /// The same spelt out, once somebody has asked for it.
    mutable node_list list;

    /// Those that are lost.
    std::set<uint32_t> lost;

    /// Regular: `block` ranks to a node, then the next node, and from the last
    /// one on again from the first. 0: see `runs`.
    uint32_t block = 0;
    std::vector<run> runs;
  };

  static uint32_t count(const layout& x);
  static uint32_t nth_node(const layout& x, uint32_t n);
  static std::optional<uint32_t> find(const layout& x, uint32_t rank);
  static std::vector<run> runs_of(const job_map& map);
  static bool make_regular(layout& x, const std::vector<run>& runs);

  std::map<std::string, layout> jobs_;

  /// The nodes of all jobs there have been, as their maps call them.
  std::map<uint32_t, std::string> names_;
};

} // namespace troupe
