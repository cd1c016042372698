#pragma once

#include "messages/inspect.hpp"
#include "messages/query.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

namespace troupe {

/// Controls processes. Source: PMIx Standard v5, `PMIx_Job_control`; RFC0015.
struct job_control_request {
  std::vector<proc_id> targets;
  std::vector<info> directives;
};

TROUPE_MESSAGE(job_control_request, x.targets, x.directives)

/// What is done to processes.
enum class control_action : uint8_t {
  signal,    ///< they and their process groups get a signal
  pause,     ///< they, and whatever they started, stand still
  resume,    ///< they go on
  terminate, ///< SIGTERM; their end is wanted, and no failure
  kill,      ///< SIGKILL, likewise
  restart,   ///< SIGKILL; then they are started again where they ran
};

/// To the node of processes, and there to their JOB and the PROCESS LAUNCHER:
/// does something to exactly these. Who does not run there is passed over.
/// Whoever is paused stays so unless it is resumed or ends; pausing the paused,
/// and resuming those that run, changes nothing.
/// Source: PMIx Standard v5, `PMIx_Job_control`.
struct control_procs {
  std::string nspace;
  std::vector<uint32_t> ranks;
  control_action action = control_action::signal;

  /// For `signal`: 1 to 64, or 0 to find out who runs.
  int32_t signal = 0;

  /// For `restart`: the name of the checkpoint that they begin from; empty:
  /// none.
  std::string checkpoint = {};
};

TROUPE_MESSAGE(control_procs, x.nspace, x.ranks, x.action, x.signal,
               x.checkpoint)

/// The answer: to whom it was done.
struct procs_controlled {
  std::vector<uint32_t> ranks;
};

TROUPE_MESSAGE(procs_controlled, x.ranks)

/// Watches something. Source: PMIx Standard v5, `PMIx_Process_monitor`;
/// RFC0015.
struct monitor_request {
  info monitor;
  status error_code = status::success;
  std::vector<info> directives;
};

TROUPE_MESSAGE(monitor_request, x.monitor, x.error_code, x.directives)

/// Changes an allocation. Source: Standard v5, `PMIx_Allocation_request`.
struct allocation_request {
  uint8_t directive = 0;
  std::vector<info> infos;
};

TROUPE_MESSAGE(allocation_request, x.directive, x.infos)

/// Defines or changes a block of resources. Source: OpenPMIx 6,
/// `PMIx_Resource_block`.
struct resource_block_request {
  uint8_t directive = 0;
  std::optional<std::string> block;
  std::vector<resource_unit> units;
  std::vector<info> directives;
};

TROUPE_MESSAGE(resource_block_request, x.directive, x.block, x.units,
               x.directives)

/// Controls a session. Source: PMIx Standard v5, `PMIx_Session_control`.
struct session_control_request {
  uint32_t session = 0;
  std::vector<info> directives;
};

TROUPE_MESSAGE(session_control_request, x.session, x.directives)

/// Asks for a credential. Source: Standard v5, `PMIx_Get_credential`.
struct get_credential_request {
  std::vector<info> directives;
};

TROUPE_MESSAGE(get_credential_request, x.directives)

struct get_credential_result {
  std::string credential;
  std::vector<info> infos;
};

TROUPE_MESSAGE(get_credential_result, x.credential, x.infos)

/// Checks a credential. Source: Standard v5, `PMIx_Validate_credential`.
struct validate_credential_request {
  std::string credential;
  std::vector<info> directives;
};

TROUPE_MESSAGE(validate_credential_request, x.credential, x.directives)

/// Registers a fabric. Source: PMIx Standard v5, `PMIx_Fabric_register`.
struct fabric_register_request {
  std::vector<info> directives;
};

TROUPE_MESSAGE(fabric_register_request, x.directives)

/// Updates a fabric. Source: PMIx Standard v5, `PMIx_Fabric_update`.
struct fabric_update_request {
  uint64_t index = 0;
};

TROUPE_MESSAGE(fabric_update_request, x.index)

/// Asks for distances to devices. Source: Standard v5,
/// `PMIx_Compute_distances`.
struct device_distances_request {
  /// The topology as hwloc XML; absent: the server's own.
  std::optional<std::string> topology;
  std::optional<std::string> cpuset;
  std::vector<info> directives;
};

TROUPE_MESSAGE(device_distances_request, x.topology, x.cpuset, x.directives)

struct device_distances_result {
  std::vector<device_distance> distances;
};

TROUPE_MESSAGE(device_distances_result, x.distances)

} // namespace troupe
