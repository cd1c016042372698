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
