#pragma once

#include "actors/jobs/debug_stops.hpp"
#include "actors/jobs/rank_file.hpp"
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
  slot,      ///< a node is filled before the next
  node,      ///< to one node after the other
  ppr,       ///< so many on each, or on each object of a node
  seq,       ///< as a list of nodes says, one process per entry
  rank_file, ///< as a rank file says
};

/// Which objects of the node ranks are dealt to, or bound to.
enum class resource_kind {
  none,
  slot,
  hwthread,
  core,
  l1,
  l2,
  l3,
  numa,
  package,
  node,
};

/// In which order processes that have their places get their ranks.
enum class rank_policy {
  slot,   ///< node after node, as they were dealt
  node,   ///< in turn over the nodes
  fill,   ///< all of an object before the next object
  span,   ///< in turn over the objects of all nodes
  object, ///< in turn over the objects of a kind on a node
};

/// The attributes of a spawn request that concern the whole job.
/// Source: PMIx Standard v5, `PMIx_Spawn`, "Spawn-specific attributes".
struct job_options {
  /// How processes are dealt to nodes, and then to the objects of each.
  node_policy nodes = node_policy::slot;

  /// With `node_policy::ppr`: so many processes on each object of this kind.
  uint32_t per_object = 0;
  resource_kind ppr_object = resource_kind::node;

  rank_policy rank_by = rank_policy::slot;

  /// With `rank_policy::object`.
  resource_kind rank_object = resource_kind::none;

  resource_kind map_by = resource_kind::slot;
  resource_kind bind_to = resource_kind::none;

  /// Whether somebody has asked for these; if not, `settle` chooses.
  bool map_given = false;
  bool bind_given = false;

  /// Processors of each process: cores, or hardware threads; 0: as it is bound.
  uint32_t cpus_per_proc = 0;

  /// Whether a hardware thread counts as a processor, rather than a core.
  bool threads_are_cpus = false;

  /// Whether the objects of all nodes are dealt to as if they were of one.
  bool spans = false;

  /// Whether the launcher's node takes no process.
  bool no_local = false;

  bool oversubscribe = false;

  /// Whether not even what a job inherits from its parent lets it have more
  /// processes than slots.
  bool never_oversubscribe = false;

  /// Whether more processes may be bound to an object than it has processors.
  bool overload = false;

  /// Whether processes that cannot be bound stay unbound, rather than the job
  /// being refused.
  bool bind_if_possible = false;

  /// The only processors to use, by their logical numbers; none: all.
  std::vector<uint32_t> cpu_list;

  /// Whether each process of a node gets one processor of the list, in the
  /// list's order.
  bool is_list_ordered = false;

  /// Whether the launcher tells where each process is bound.
  bool report_bindings = false;

  /// Whether the launcher tells where each process goes. PMIX_DISPLAY_MAP.
  bool display_map = false;

  /// Whether each process has its rank behind its first argument, as in
  /// `prog-3`. PMIX_INDEX_ARGV.
  bool index_argv = false;

  /// With `node_policy::seq`: nodes by rank; none: those of PMIX_HOST.
  std::vector<std::string> sequence;

  /// With `node_policy::rank_file`.
  rank_file ranks;

  /// Whether the job goes on when a process of it fails. PMIX_JOB_RECOVERABLE.
  bool recoverable = false;

  /// Whether a process that exits with another status than 0 has failed.
  /// PMIX_ABORT_NON_ZERO_TERM.
  bool abort_non_zero = true;

  /// How often each process is started again where it ran if it fails; it may
  /// be so on request, too, if only 0. Absent: never. PMIX_MAX_RESTARTS;
  /// PMIX_JOB_CONTINUOUS is any number.
  std::optional<uint32_t> max_restarts;

  /// Where its processes wait for a debugger.
  debug_stops stops;

  /// Whether it is only mapped.
  bool is_dry = false;

  /// Longest run. PMIX_JOB_TIMEOUT, in seconds.
  std::optional<caf::timespan> timeout;

  /// How long it may take until all processes run. PMIX_SPAWN_TIMEOUT,
  /// PMIX_TIMEOUT, in seconds.
  std::optional<caf::timespan> spawn_timeout;

  /// Where its streams go.
  io_wiring io;
};

/// The key of a directive of ours in `spawn_request::job_infos`: the text of
/// the file that PMIX_MAPBY names by `file=`. A launcher reads the file, since
/// the daemon may be elsewhere and somebody else's.
inline constexpr std::string_view mapping_file_key = "troupe.mapfile";

/// Reads the options. For launchers, too, which find a mistake before anything
/// is started.
/// @returns `bad_param` with the attribute and its remedy, or `not_supported`
///          for a policy or a modifier that is none, with the words that are.
caf::expected<job_options> read_options(const spawn_request& request);

/// Chooses what nobody has asked for, by the size of the job: THE rule of the
/// default mapping and binding, and the only place of it.
///
/// Up to two processes are mapped by core and bound to their cores, more are
/// mapped by numa and bound to that; who maps by objects is bound to those.
/// `place` leaves such processes unbound where they do not have a core each.
/// Source: Open MPI's mpirun, whose users expect it.
void settle(job_options& options, uint32_t job_size);

/// Whether the options need to know the node's processors.
bool needs_topology(const job_options& options);

/// Whether somebody asks for the binding: what cannot be bound is refused then,
/// unless the options allow it, and just not bound otherwise.
bool is_binding_required(const job_options& options);

/// Which objects the mapper has to count on every node; none: it needs not.
resource_kind counted_objects(const job_options& options);

/// Whether the mapping tells how many processes there are if nobody else does.
bool counts_processes(const job_options& options);

/// The file that PMIX_MAPBY names, whose text belongs into `mapping_file_key`;
/// empty: none.
std::string mapping_file_of(const spawn_request& request);

/// The name of a policy, as options and displays have it.
std::string to_string(resource_kind kind);

/// The ranking, as displays have it.
std::string ranking_of(const job_options& options);

/// The policy by which processes are dealt, as displays have it: `core`,
/// `node`, `ppr:2:node`, `slot:pe=2`.
std::string mapping_of(const job_options& options);

/// Reads where the processes of a job go: PMIX_MAPBY, PMIX_PPR, PMIX_RANKBY,
/// PMIX_BINDTO, PMIX_CPUS_PER_PROC, PMIX_CPU_LIST, PMIX_NO_OVERSUBSCRIBE,
/// PMIX_NO_PROCS_ON_HEAD and PMIX_REPORT_BINDINGS. Words count whatever their
/// case.
/// @returns `not_supported` for a word that is none, `bad_param` for a value
///          that is none, with the attribute, its value and the remedy.
/// Source: PMIx Standard v5, "Spawn-specific attributes"; the words of mpirun 4
/// and of PRRTE.
caf::error read_mapping_words(const std::vector<info>& infos,
                              job_options& options);

std::string lower_case(std::string text);

} // namespace troupe
