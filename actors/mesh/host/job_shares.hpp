#pragma once

#include "actors/jobs/processor_ledger.hpp"
#include "actors/jobs/shares.hpp"
#include "actors/mesh/exchange/event_sequencer.hpp"
#include "actors/mesh/exchange/mesh_collectives.hpp"
#include "actors/mesh/exchange/publish_desk.hpp"
#include "actors/mesh/host/host_actors.hpp"
#include "actors/mesh/host/host_streams.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct job_context;

/// The shares of a node in the jobs of its DVM, one JOB actor each, and what
/// the root has done to their processes. The rules are in `shares`. Part of a
/// MESH HOST.
class job_shares {
public:
  /// The other parts of the MESH HOST that a share needs; they outlive this.
  struct parts {
    host_calls& calls;
    job_locations& places;
    mesh_collectives& collectives;
    event_sequencer& orders;
    dvm_publishing& published;
    host_streams& streams;
  };

  /// @param self The MESH HOST, whose messages it carries on.
  job_shares(mesh_host_actor::pointer self, const mesh_host_options& options,
             const host_actors& actors, const parts& others);

  job_shares(const job_shares&) = delete;
  job_shares& operator=(const job_shares&) = delete;

  /// The JOB actor of a namespace; null: it has no share here.
  const job_actor* find(const std::string& nspace) const {
    const auto i = jobs_.find(nspace);
    return i != jobs_.end() ? &i->second : nullptr;
  }

  const std::map<std::string, job_actor>& all() const {
    return jobs_;
  }

  shares& rules() {
    return rules_;
  }

  const shares& rules() const {
    return rules_;
  }

  // -- from the root --

  void prepare(prepare_share& order, completion<job_map> done);

  void start(const start_share& request, completion<spawn_result> done);

  /// A job is over everywhere: its output has been taken before it is
  /// forgotten.
  void forget(const forget_job& what, completion<ack> done);

  /// Has something done to processes of this node.
  void control(const control_procs& what, completion<procs_controlled> done);

  /// Hears that processes of other nodes have ended.
  void hear_of_gone(const procs_gone& what);

  /// Runs a hook of this node's site.
  void run_hook(const run_site_hook& what, completion<site_hook_result> done);

  // -- from processes and tools of this node --

  /// Job control: what is registered for cleanup stays here, the rest is for
  /// the root.
  caf::result<info_result> control(const requester& who,
                                   job_control_request& request);

private:
  shares::effects means_of_rules();
  job_context context_of(const prepare_share& order) const;
  void leave(const std::string& reason);
  void forget_share(const forget_job& what, completion<ack> done);

  mesh_host_actor::pointer self_;
  const mesh_host_options& options_;
  const host_actors& actors_;
  parts others_;

  /// The same jobs as in `rules_`.
  std::map<std::string, job_actor> jobs_;

  /// Shared with the JOB actors: what their processes are bound to.
  std::shared_ptr<processor_ledger> bound_ =
    std::make_shared<processor_ledger>();
  shares rules_;
};

/// The command of a hook of the site; empty: there is none.
const std::vector<std::string>& command_of(const site_hooks& hooks,
                                           site_hook which);

} // namespace troupe
