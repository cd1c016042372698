#pragma once

#include "messages/collective.hpp"
#include "runtime/placed_job.hpp"

#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// Joins the fences of jobs over nodes, in the one actor of a resource manager
/// that the hosts of all nodes ask. A plain class, of that actor's state.
///
///     // The actor, replies_to<uint32_t, host_collective>.
///     [self](uint32_t node, host_collective& x) {
///       auto result = self->make_response_promise<host_collective_result>();
///       self->state.fences.join(node, x, result);
///       return result;
///     }
///     // The host of each node, for `host_offers::fence`.
///     [=](host_collective& x) -> caf::result<host_collective_result> {
///       if (x.is_local)
///         return host_collective_result{};
///       return self->delegate(that_actor, rank, std::move(x));
///     }
///
/// Source: PMIx Standard v5, `pmix_server_fencenb_fn_t`.
class node_fences {
public:
  using promise = caf::typed_response_promise<host_collective_result>;

  /// A job starts. One of the same name is over, as by `remove`.
  void add(const placed_job& job);

  /// A node joins. Answered with the data of all when each node that has one of
  /// the participants has joined; refused with
  ///   - `bad_param` if the node has joined already, or has no participant,
  ///   - `not_found` if a participant is of no job, or of one that is over,
  ///   - `not_supported` if the node asks to let the fence fail, since who sees
  ///     the end of a process tells it by `remove`,
  ///   - `out_of_resource` if 65,536 fences wait for nodes.
  void join(uint32_t node, host_collective& call, promise answer);

  /// A job is over. Who waits in a fence with it is refused with
  /// `lost_connection` and the reason.
  void remove(const std::string& nspace, const std::string& reason);

private:
  struct fence {
    std::vector<proc_id> procs;
    std::set<uint32_t> missing;
    host_collective_result all;
    std::vector<promise> owed;
  };

  /// The nodes of all participants; none if one of them is of no job.
  std::set<uint32_t> nodes_of(const std::vector<proc_id>& procs) const;

  /// The node of each rank.
  std::map<std::string, std::vector<uint32_t>> jobs_;
  std::map<std::string, fence> fences_;
};

} // namespace troupe
