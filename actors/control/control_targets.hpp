#pragma once

#include "messages/connection.hpp"
#include "messages/status.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A job, as far as control has to know it.
struct controlled_job {
  struct process {
    uint32_t node = 0;

    /// Whether it has not ended; if it does not run yet, its node says so.
    bool is_running = false;
  };

  /// Whose processes these are.
  credentials owner;
  std::vector<process> procs; // by rank
};

/// Where targets are looked up.
struct control_lookup {
  /// A job that is there.
  std::function<std::optional<controlled_job>(const std::string& nspace)> job;

  /// Whether there was a job of this name.
  std::function<bool(const std::string& nspace)> has_ended;

  /// The members of a process set or group.
  std::function<std::optional<std::vector<proc_id>>(const std::string& name)>
    set;
};

/// Processes of one namespace on one node.
struct control_share {
  std::string nspace;
  uint32_t node = 0;

  /// Ascending, each once.
  std::vector<uint32_t> ranks;
};

inline bool operator==(const control_share& x, const control_share& y) {
  return x.nspace == y.nspace && x.node == y.node && x.ranks == y.ranks;
}

/// Whom a request is for.
struct control_targets {
  /// The processes that run, by namespace and node.
  std::vector<control_share> shares;

  /// Targets that were named and have ended, or do not run yet.
  std::vector<proc_id> absent;

  /// Namespaces that were named as a whole.
  std::vector<std::string> whole;

  /// How many processes run.
  size_t size() const;

  /// All that run, in the order of `shares`.
  std::vector<proc_id> procs() const;

  bool has_whole(const std::string& nspace) const;
};

/// Works out whom a request is for.
/// - No targets: all processes of the requester's own namespace, of no other.
/// - A rank may be PMIX_RANK_WILDCARD, or PMIX_RANK_LOCAL_NODE: those on the
///   requester's node.
/// - A namespace may be the name of a process set, whose members are meant.
/// - Who is named twice is meant once.
/// - Who has ended is in `absent`; a job as a whole leaves out those who have.
/// @param node The requester's.
/// @returns before anything is done to anybody:
///   - `not_found` for targets that never were, with their names,
///   - `no_permissions` for those of another user, unless root asks,
///   - `bad_param` for other ranks, and for no targets from somebody who has no
///     job,
///   - `out_of_resource` beyond `defaults::control_targets`.
/// Source: RFC0015, Job Control, "targets"; requirements J2, J3, X29.
caf::expected<control_targets>
resolve_targets(const requester& who, uint32_t node,
                const std::vector<proc_id>& named,
                const control_lookup& lookup);

} // namespace troupe
