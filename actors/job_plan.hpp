#pragma once

#include "messages/host.hpp"
#include "messages/job.hpp"
#include "messages/topology.hpp"

#include <caf/expected.hpp>
#include <caf/timespan.hpp>

namespace troupe {

/// What the host brings to every job.
struct job_context {
  /// The name of the new job, and a number for it that is new on this node.
  std::string nspace;
  uint32_t number = 0;

  proc_id server;
  std::string hostname;

  /// Processes that the node takes without being oversubscribed.
  uint32_t slots = 1;

  /// Whether the job that asks for this one may have more.
  bool oversubscribe = false;

  /// Whether processes find a PMI-1 server.
  bool with_pmi1 = false;

  /// What a process inherits, `NAME=value`.
  std::vector<std::string> environment;

  /// Directory for the files of jobs, removed by the host; may be empty.
  std::string session_directory;

  /// The directory in which programs start that ask for none.
  std::string working_directory;
};

/// Which objects of the node ranks are dealt to, or bound to.
enum class resource_kind { none, slot, hwthread, core, l3, numa, package };

/// The attributes of a spawn request that concern the whole job.
/// Source: PMIx Standard v5, `PMIx_Spawn`, "Spawn-specific attributes".
struct job_options {
  resource_kind map_by = resource_kind::slot;
  resource_kind bind_to = resource_kind::none;
  bool oversubscribe = false;

  /// Whether the job goes on when a process of it fails. PMIX_JOB_RECOVERABLE.
  bool recoverable = false;

  /// Whether a process that exits with another status than 0 has failed.
  /// PMIX_ABORT_NON_ZERO_TERM.
  bool abort_non_zero = true;

  /// Longest run. PMIX_JOB_TIMEOUT, in seconds.
  std::optional<caf::timespan> timeout;

  /// Rank that standard input goes to, `rank_wildcard` for all, `rank_undef`
  /// for none. PMIX_STDIN_TGT.
  uint32_t stdin_target = rank_undef;
};

/// Reads the options.
/// @returns `bad_param` with the attribute and its remedy, or
///          `not_supported` for a policy that this host does not know.
caf::expected<job_options> read_options(const spawn_request& request);

/// A job, ready to be registered and started.
struct job_plan {
  job_mapped map;
  register_nspace registration;

  /// One per rank; what the server adds to the environment is still missing.
  std::vector<start_process> processes;
};

/// Whether the options need to know the node's processors.
bool needs_topology(const job_options& options);

/// Maps the processes of a job to processors and describes the job to them.
/// @param topology Only looked at if `needs_topology`.
/// @returns
///   - `bad_param` if the request has no program or no process,
///   - `job_insufficient_resources` if there are more processes than slots and
///     the options do not allow that.
/// Source: PMIx Standard v5, "Job-Level Information"; OpenPMIx wire protocol,
/// job info, for what clients need.
caf::expected<job_plan> plan_job(const spawn_request& request,
                                 const requester& parent,
                                 const job_options& options,
                                 const job_context& context,
                                 const node_topology& topology);

/// The name of a policy, as options and displays have it.
std::string to_string(resource_kind kind);

} // namespace troupe
