#pragma once

#include "messages/data.hpp"
#include "messages/status.hpp"

namespace troupe {

/// Joins a barrier, with or without exchange of the data posted.
/// Source: PMIx Standard v5, `PMIx_Fence`.
struct fence_request {
  std::vector<proc_id> procs;
  std::vector<info> directives;
};

TROUPE_MESSAGE(fence_request, x.procs, x.directives)

/// Declares processes connected. Source: PMIx Standard v5, `PMIx_Connect`.
struct connect_procs_request {
  std::vector<proc_id> procs;
  std::vector<info> directives;

  /// The requester's own posted data, which clients from 6.0 on add: each a
  /// `pmix.pdata` array.
  std::vector<info> own_data;
};

TROUPE_MESSAGE(connect_procs_request, x.procs, x.directives, x.own_data)

/// The jobs of the other participants.
struct connect_procs_result {
  std::vector<job_info> jobs;
};

TROUPE_MESSAGE(connect_procs_result, x.jobs)

/// Ends a connection of processes. Source: Standard v5, `PMIx_Disconnect`.
struct disconnect_procs_request {
  std::vector<proc_id> procs;
  std::vector<info> directives;
};

TROUPE_MESSAGE(disconnect_procs_request, x.procs, x.directives)

/// What kind of collective operation.
enum class collective_kind : uint8_t { fence, connect, disconnect };

/// All local participants have joined a collective operation; the host joins
/// them with those of other nodes.
/// Source: PMIx Standard v5, `pmix_server_fencenb_fn_t`, `..._connect_fn_t`.
struct host_collective {
  collective_kind kind = collective_kind::fence;
  std::vector<proc_id> procs;
  std::vector<info> directives;

  /// What local participants contribute to a fence that collects data.
  std::vector<proc_data> data;

  /// Whether all participants are on this node: there is nobody to ask.
  bool is_local = false;

  /// Counts the operations of this kind and these participants, from 1; all
  /// servers count alike.
  uint64_t generation = 0;

  /// Not `success`: participants of this node cannot join, for this reason.
  /// Asks to let the operation fail for all, and is answered with the error
  /// that all get, or with success if it has completed before. A host that
  /// cannot have nodes agree refuses (`not_supported`).
  /// `operation_in_progress`: some are missing yet; asks to be told if the
  /// operation fails meanwhile.
  status failure = status::success;
  std::string reason;

  /// Whether it goes on without those who end or leave.
  bool is_fault_tolerant = false;
};

TROUPE_MESSAGE(host_collective, x.kind, x.procs, x.directives, x.data,
               x.is_local, x.generation, x.failure, x.reason,
               x.is_fault_tolerant)

struct host_collective_result {
  /// What participants on other nodes contributed.
  std::vector<proc_data> data;
};

TROUPE_MESSAGE(host_collective_result, x.data)

} // namespace troupe
