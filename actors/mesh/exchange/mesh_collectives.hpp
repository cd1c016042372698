#pragma once

#include "actors/data/job_locations.hpp"
#include "config/defaults.hpp"

#include <caf/expected.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace troupe {

namespace defaults {

/// What one process has posted travels with a fence that collects data up to so
/// many bytes of values; beyond that it stays at its owner until it is asked
/// for. Source: guarantees, section 7, "modex".
inline constexpr size_t eager_modex_bytes = size_t{1} << 10;

} // namespace defaults

/// The collective operations of this node that need other nodes. The nodes that
/// take part form a tree in the order of their ranks; what each brings goes up,
/// the outcome comes down, and is the same for all.
///
/// An operation is known by its kind, its participants and its *generation*,
/// which the servers of all nodes count alike. A node whose participants cannot
/// all join says so, and the operation fails for all. Losing a node fails the
/// operations in which its processes take part and builds the others' trees
/// anew.
///
/// An operation that is *fault tolerant* goes on without those who have ended
/// or left, and without nodes that are lost or have no other participants. Once
/// a node is lost, the others send what they bring straight to the root.
///
/// A plain class: what it wants done are calls of `effects`. They come before
/// its own calls return, the outcome of an operation last: who gets it may join
/// the next one at once.
/// Source: guarantees 5.5, COLL-1 to COLL-5, P-C1, P-C2.
class mesh_collectives {
public:
  /// Gets what the participants of other nodes contributed, or why the
  /// operation failed; the same on all nodes.
  using completion = std::function<void(caf::expected<host_collective_result>)>;

  struct effects {
    /// Sends to another node, as a call.
    std::function<void(uint32_t rank, host_question what)> tell;

    /// Asks where a job runs: `job_known` or `job_unknown` follow, once.
    std::function<void(const std::string& nspace)> locate;

    /// Whether a node is live.
    std::function<bool(uint32_t rank)> is_live;
  };

  /// @param self This node's rank.
  /// @param places Where jobs run; outlives this.
  mesh_collectives(uint32_t self, const job_locations& places, effects out,
                   uint32_t radix = defaults::tree_radix);

  ~mesh_collectives();

  mesh_collectives(const mesh_collectives&) = delete;
  mesh_collectives& operator=(const mesh_collectives&) = delete;

  // -- from the server -------------------------------------------------------

  /// All participants of this node have joined; or, if `what` names a failure,
  /// they cannot or have waited long enough: then the operation fails for all,
  /// unless it is decided already. May come after the former for the same
  /// operation.
  /// @param then Gets the outcome.
  void join(host_collective what, completion then);

  // -- from other nodes ------------------------------------------------------

  void take(uint32_t from, collective_part what);
  void take(uint32_t from, collective_outcome what);

  // -- what happens meanwhile ------------------------------------------------

  /// These processes will take part in nothing any more. To be told of those
  /// of other nodes and of this one.
  void procs_gone(const std::vector<proc_ended>& procs);

  /// These have left a group: operations over it that they have not joined
  /// fail, or go on without them.
  /// @param salt In its upper half, what the generations of operations over the
  ///             group have in theirs.
  void procs_left(uint64_t salt, const std::vector<proc_id>& departed,
                  const std::string& reason);

  /// `places` knows a job now, or it never will.
  void job_known(const std::string& nspace);
  void job_unknown(const std::string& nspace, const std::string& why);

  /// A job is over everywhere: nothing of it is kept.
  void job_forgotten(const std::string& nspace);

  /// A node is lost or has left.
  void node_lost(uint32_t rank);

  // -- gauges ----------------------------------------------------------------

  /// Operations in flight, and outcomes that are remembered.
  size_t open() const;
  size_t remembered() const;

private:
  struct operation;
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
