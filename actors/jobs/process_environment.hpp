#pragma once

#include "actors/jobs/job_plan.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe {

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
