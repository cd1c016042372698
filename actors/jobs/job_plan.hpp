#pragma once

#include "actors/jobs/descriptor_budget.hpp"
#include "actors/jobs/job_options.hpp"
#include "actors/jobs/processor_ledger.hpp"
#include "messages/host.hpp"
#include "messages/mesh.hpp"
#include "messages/topology.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// What the host brings to every job.
struct job_context {
  proc_id server;

  /// The node's rank in the DVM, and its name.
  uint32_t node = 0;
  std::string hostname;

  /// Slots of all nodes.
  uint32_t universe = 1;

  /// What the jobs of this node are bound to; may be missing.
  std::shared_ptr<processor_ledger> bound = {};

  /// Whether processes find a PMI-1 server.
  bool with_pmi1 = false;

  /// What a process inherits, `NAME=value`.
  std::vector<std::string> environment;

  /// Directory for the files of jobs, removed by the host; may be empty.
  std::string session_directory;

  /// The directory in which programs start that ask for none.
  std::string working_directory;

  /// The descriptors of this daemon; nullptr: it has no bound.
  std::shared_ptr<descriptor_budget> descriptors;
};

/// A job, ready to be registered and started on this node.
struct job_plan {
  register_nspace registration;

  /// One per process of this node, in the order of their ranks; what the server
  /// adds to the environment is still missing.
  std::vector<start_process> processes;
};

/// Writes into a request which nodes are oversubscribed once it is started, in
/// the place of what it says of that.
void mark_oversubscribed(spawn_request& request,
                         const std::vector<uint32_t>& nodes);

/// Whether a request has such a mark for a node.
bool is_oversubscribed(const spawn_request& request, uint32_t node);

/// Binds the processes of this node to processors: fills in their `cpus`.
/// @param topology Only looked at if `needs_topology`.
/// @param taken The processors to which other jobs have bound processes.
/// @returns what `place` says.
caf::error bind_share(node_share& share, const job_options& options,
                      const node_topology& topology,
                      std::set<uint32_t> taken = {});

/// Describes a job to its processes, and the processes of this node to their
/// launcher. Processors are known of this node only.
/// Source: PMIx Standard v5, "Job-Level Information"; OpenPMIx wire protocol,
/// job info, for what clients need.
job_plan plan_job(const job_map& map, const spawn_request& request,
                  const requester& parent, const job_options& options,
                  const job_context& context, const node_topology& topology);

/// The first rank and the number of processes of each program.
struct app_range {
  uint32_t first = 0;
  uint32_t size = 0;
};

std::vector<app_range> app_ranges(const spawn_request& request);

/// The data of a job at all its levels, for its processes on this node.
std::vector<info> describe_job(const job_map& map, const spawn_request& request,
                               const requester& parent,
                               const job_options& options,
                               const job_context& context,
                               const node_topology& topology);

/// Whether a process asked for the job.
bool is_spawned(const requester& parent);

/// Sets variables of an environment, `NAME=value`; what they were before goes.
void set_variables(std::vector<std::string>& env,
                   std::vector<std::string> variables);

/// Which node runs which ranks, as MPICH reads it: `(vector,(0,2,4))` says that
/// two nodes from number 0 on have four each.
/// Source: MPICH, PMI_process_mapping; PMIX_ANL_MAP.
std::string process_mapping(const std::vector<node_share>& shares);

/// Where a process is in its job, as its environment says it.
struct process_place {
  proc_id proc;

  /// Processes of the job.
  uint32_t size = 0;

  /// Its place among the processes of the job on its node, and their number.
  uint32_t local_rank = 0;
  uint32_t local_size = 0;

  /// Its node's place among the nodes of the job, their number, and its name.
  uint32_t node = 0;
  uint32_t num_nodes = 1;
  std::string hostname;

  /// Its program's place among those of the job.
  uint32_t app = 0;

  /// Whether more processes run on the node than it has slots or processors.
  bool oversubscribed = false;

  /// Whether a process asked for the job.
  bool spawned = false;
};

/// The environment of the processes of one program: what the host brings, less
/// the marks of the launcher that the host itself runs under; what the request
/// changes; and where each process is, in the words of Open MPI, MPICH and our
/// own. Where a process is, is always told; what makes Open MPI and MPICH run
/// well (`OMPI_MCA_*`, `MPIR_CVAR_*`) only where nobody has set it.
/// Source: PMIx Standard v5, "Environment variable attributes"; Open MPI 4.1
/// and 5.0; MPICH, Hydra and PMI version 1.1. docs/environment.md has the list.
class process_environment {
public:
  /// @param request Has at least one program, and outlives this.
  process_environment(const spawn_request& request, const app& program,
                      const job_context& context);

  /// The environment of one process, `NAME=value`, each name once.
  std::vector<std::string> of(const process_place& place) const;

private:
  std::map<std::string, std::string> base_;
  const spawn_request& request_;
  const app& program_;
  uint32_t universe_;
  bool with_pmi1_;
};

} // namespace troupe
