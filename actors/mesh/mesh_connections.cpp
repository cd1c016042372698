#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

// Processes of several jobs that are connected are as one application when
// processes fail: all hear of it, and what ends one job ends the others.
// Source: PMIx Standard v5, "Connecting and Disconnecting Processes"; RFC0033,
// "Relation to the RM".

namespace troupe::mesh_internals {

namespace {

bool spans_jobs(const std::vector<proc_id>& procs) {
  return std::any_of(procs.begin(), procs.end(), [&](const proc_id& x) {
    return x.nspace != procs.front().nspace;
  });
}

/// Whether a node runs any of these.
bool runs_any(mesh_host_state& state, uint32_t node,
              const std::vector<proc_id>& procs) {
  return std::any_of(procs.begin(), procs.end(), [&](const proc_id& x) {
    const auto* job = state.find_job(x.nspace);
    if (job == nullptr)
      return false;
    if (x.rank == rank_wildcard)
      return std::any_of(job->procs.begin(), job->procs.end(),
                         [&](const proc_record& y) { return y.node == node; });
    return x.rank < job->procs.size() && job->procs[x.rank].node == node;
  });
}

} // namespace

std::optional<connection_changed>
connection_change(const host_collective& what) {
  // Questions about an operation are no operation.
  if (what.failure != status::success || !spans_jobs(what.procs))
    return std::nullopt;
  if (what.kind == collective_kind::fence
      && !flag(what.directives, disconnecting_fence))
    return std::nullopt;
  return connection_changed{what.procs, what.kind == collective_kind::connect};
}

void tell_connection(self_pointer self, const connection_changed& what,
                     completion<ack> then) {
  ask(self, 0, what, reply_to<ack>([then](caf::expected<ack> x) {
        // A root that is gone needs to know nothing.
        if (!x && status_of(x.error()) == status::out_of_resource)
          then(std::move(x.error()));
        else
          then(ack{});
      }));
}

caf::expected<ack> note_connection(self_pointer self, uint32_t from,
                                   connection_changed& what) {
  auto& state = self->state;
  if (!runs_any(state, from, what.procs))
    return make_error(status::no_permissions,
                      "node " + std::to_string(from)
                        + " runs none of the processes that it says have "
                        + (what.connected ? "connected" : "disconnected"));
  if (!what.connected)
    state.connected.disconnect(std::move(what.procs), from);
  else if (!state.connected.connect(std::move(what.procs), from))
    return make_error(status::out_of_resource,
                      "too many sets of processes are connected ("
                        + std::to_string(defaults::groups_per_namespace)
                        + " of one namespace); disconnect some");
  return ack{};
}

void end_connected(self_pointer self, const std::vector<proc_id>& failed) {
  auto& state = self->state;
  if (failed.empty() || state.connected.size() == 0)
    return;
  const auto& nspace = failed.front().nspace;
  const auto* job = state.find_job(nspace);
  if (job == nullptr)
    return;
  const auto goes_on = [&](const std::string& other) {
    const auto* x = state.find_job(other);
    return x == nullptr || x->reporting || x->ending || x->options.recoverable;
  };
  auto told = std::set<std::string>{};
  auto ended = std::set<std::string>{};
  for (const auto& x : failed) {
    for (const auto& peer : state.connected.peers_of(x))
      told.insert(peer.nspace);
    for (auto& other : state.connected.ended_with(x, goes_on))
      ended.insert(std::move(other));
  }
  if (told.empty())
    return;
  told.insert(nspace);
  told.insert(ended.begin(), ended.end());
  const auto audience = std::vector<std::string>{told.begin(), told.end()};
  tell_of_job_failure(self, *job, audience);
  const auto outcome = job->outcome.report();
  for (const auto& other : ended) {
    auto& x = *state.find_job(other);
    tell_of_job_failure(self, x, audience);
    x.outcome.end("job " + nspace + ", to which it was connected, failed"
                    + (outcome.reason.empty() ? "" : ": " + outcome.reason),
                  outcome.exit_status != 0 ? outcome.exit_status : 1);
  }
  for (const auto& other : ended)
    end_processes(self, other, SIGTERM);
}

} // namespace troupe::mesh_internals
