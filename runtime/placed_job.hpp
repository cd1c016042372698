#pragma once

#include "messages/host.hpp"
#include "messages/inspect.hpp"
#include "messages/proc_id.hpp"
#include "messages/process.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace troupe {

/// A job whose processes a resource manager has placed on nodes. A message, if
/// the daemon gives it a number among those of its own types.
struct placed_job {
  /// No other job of the resource manager has this name.
  std::string nspace;

  /// The program and its arguments. Without a slash it is looked up in the PATH
  /// of its environment.
  std::vector<std::string> argv;

  /// The node of each process, by rank, as its number: that of the daemon in its
  /// DVM, if it is in one. A mesh of the job (`job_meshes`) wants those of the
  /// job to be 0, 1, 2 and so on.
  std::vector<uint32_t> nodes{};

  /// Names of nodes, for PMIX_HOSTNAME; one without is called `node<number>`.
  std::map<uint32_t, std::string> hosts{};

  /// What is set in the environment of the processes beside that of the daemon
  /// that starts them, `NAME=value`.
  std::vector<std::string> env{};

  /// Their working directory; empty: the daemon's.
  std::string wdir{};

  /// Slots of all nodes, for PMIX_UNIV_SIZE, if there are more than processes.
  uint32_t universe = 0;
};

TROUPE_MESSAGE(placed_job, x.nspace, x.argv, x.nodes, x.hosts, x.env, x.wdir,
               x.universe)

/// The part of a job on one node, for `local_processes`.
struct placed_share {
  /// What the server of the node is told of the whole job, for
  /// `runtime::register_nspace`. More may be added to its `infos`.
  register_nspace registration;

  /// The processes of this node, by rank. What the server sets in their
  /// environment (`runtime::setup_fork`) is missing yet. All standard streams
  /// are pipes.
  std::vector<start_process> processes;
};

/// Describes a job to the server of a node, and its processes there to who
/// starts them: where each process is, in what PMIx, Open MPI and MPICH ask for,
/// as Troupe's own launcher tells it (docs/environment.md), without name of the
/// manager, mapping, ranking, binding and session. They are of the user of this
/// process.
/// @param node   The number of this node. It may have no process of the job.
/// @param server Who serves them: `runtime::id`.
/// @returns `bad_param` with the remedy for a job that has no name, no program
///          or no process, or more than 65,536.
/// Source: PMIx Standard v5, "Job-Level Information".
caf::expected<placed_share> share_of(const placed_job& job, uint32_t node,
                                     const proc_id& server);

} // namespace troupe
