#pragma once

#include "actors/io/stream_spread.hpp"
#include "actors/jobs/dvm_jobs.hpp"
#include "actors/mesh/exchange/host_calls.hpp"
#include "actors/mesh/host/host_actors.hpp"
#include "actors/server/wait_report.hpp"

#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Whether this is a question of a DVM's nodes about each other's collective
/// operations, for whichever node.
bool is_waits_question(const ask_root& what);

/// Questions about the DVM, its nodes and what these use. The root answers what
/// it knows of jobs; each host knows how its own node is connected, how full
/// its queues are, its groups, its streams and its use of resources, and puts
/// together what the others say of theirs. Part of a MESH HOST.
class mesh_queries {
public:
  struct effects {
    /// What the parts of the MESH HOST say of this node: rank, duty, gauges.
    std::function<mesh_status()> describe_host;

    /// Answers what a `log_desk` knows.
    std::function<void(const requester& who, const std::vector<query>& what,
                       std::function<void(std::vector<info>)> done)>
      answer_of_logs;
  };

  /// @param self The MESH HOST, whose requests it makes.
  /// @param jobs The jobs of the DVM, at the root.
  mesh_queries(mesh_host_actor::pointer self, const mesh_host_options& options,
               const host_actors& actors, host_calls& calls,
               const job_locations& places, dvm_jobs& jobs,
               stream_spread& streams, effects out);

  mesh_queries(const mesh_queries&) = delete;
  mesh_queries& operator=(const mesh_queries&) = delete;

  /// For a process or tool of this node; `not_found` if nobody knows any of
  /// the keys.
  void answer(const requester& who, query_request& request,
              completion<info_result> done);

  /// At the root, of the jobs of the DVM.
  info_result answer_at_root(uint32_t from, const requester& who,
                             const query_request& request);

  /// How this node is connected, and how full its queues are.
  void describe_node(completion<mesh_status> done);

  /// The groups of this node.
  void list_groups_here(completion<group_list> done);

  /// The collective operations that processes of this node take part in.
  void list_waits_here(const ask_root& what, completion<info_result> done);

  /// How many objects of each kind this node has.
  void count_objects_here(completion<info_result> done);

  /// Samples the nodes that a request names, beside this one, or has the node
  /// of a process do what its monitor is asked.
  /// Source: OpenPMIx, "Process & Resource Statistics", where the host relays.
  void sample_others(const requester& who, const monitor_request& request,
                     completion<info_result> done);

  /// Samples this node for another.
  void sample_here(sample_elsewhere& request, completion<info_result> done);

private:
  void list_all_groups(std::function<void(std::vector<group_status>)> done);
  void answer_of_groups(const requester& who, std::vector<query> what,
                        std::function<void(std::vector<info>)> done);
  void answer_of_streams(const requester& who, const query& what,
                         std::function<void(std::vector<info>)> done);
  void answer_of_waits(const requester& who,
                       std::function<void(std::vector<info>)> done);
  void describe_net(std::function<void(value)> done);
  void locate_all(std::vector<proc_id> procs,
                  std::function<void(std::vector<proc_id>)> then);
  void ask_nodes(const requester& who, const monitor_request& request,
                 const std::vector<uint32_t>& nodes,
                 completion<info_result> done);
  void ask_any_node(const requester& who, const monitor_request& request,
                    caf::error otherwise, completion<info_result> done);
  void ask_node_of(const requester& who, const monitor_request& request,
                   const proc_id& proc, completion<info_result> done);

  mesh_host_actor::pointer self_;
  const mesh_host_options& options_;
  const host_actors& actors_;
  host_calls& calls_;
  const job_locations& places_;
  dvm_jobs& jobs_;
  stream_spread& streams_;
  effects out_;
};

} // namespace troupe
