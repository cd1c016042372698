#pragma once

#include "messages/io_wiring.hpp"
#include "messages/spawn.hpp"

#include <caf/expected.hpp>
#include <caf/timespan.hpp>

namespace troupe {

/// BOOL, a directive of ours in `spawn_request::job_infos`: the job is mapped
/// and whoever asked for it told where its processes would be; none is started.
inline constexpr std::string_view dry_run_key = "troupe.dry_run";

/// How processes are dealt to nodes.
enum class node_policy {
  slot, ///< a node is filled before the next
  node, ///< to one node after the other
  ppr,  ///< so many on each
};

/// Which objects of the node ranks are dealt to, or bound to.
enum class resource_kind { none, slot, hwthread, core, l3, numa, package };

/// The attributes of a spawn request that concern the whole job.
/// Source: PMIx Standard v5, `PMIx_Spawn`, "Spawn-specific attributes".
struct job_options {
  /// How processes are dealt to nodes, and then to the objects of each.
  node_policy nodes = node_policy::slot;

  /// Processes per node, for `node_policy::ppr`.
  uint32_t per_node = 0;

  /// Whether ranks follow one another on a node, or from node to node.
  bool rank_by_node = false;
  resource_kind map_by = resource_kind::slot;
  resource_kind bind_to = resource_kind::none;
  bool oversubscribe = false;

  /// Whether the job goes on when a process of it fails. PMIX_JOB_RECOVERABLE.
  bool recoverable = false;

  /// Whether a process that exits with another status than 0 has failed.
  /// PMIX_ABORT_NON_ZERO_TERM.
  bool abort_non_zero = true;

  /// Whether it is only mapped.
  bool is_dry = false;

  /// Longest run. PMIX_JOB_TIMEOUT, in seconds.
  std::optional<caf::timespan> timeout;

  /// Where its streams go.
  io_wiring io;
};

/// Reads the options.
/// @returns `bad_param` with the attribute and its remedy, or
///          `not_supported` for a policy that this host does not know.
caf::expected<job_options> read_options(const spawn_request& request);

/// Whether the options need to know the node's processors.
bool needs_topology(const job_options& options);

/// The name of a policy, as options and displays have it.
std::string to_string(resource_kind kind);

/// The policy by which processes are dealt, as displays have it: `core`,
/// `node`, `ppr:2:node`.
std::string mapping_of(const job_options& options);

} // namespace troupe
