#include "actors/events/event_askers.hpp"
#include "actors/jobs/process_events.hpp"
#include "actors/mesh/mesh_host_state.hpp"

#include <algorithm>
#include <utility>

// What the processes of a job, and those of the job that started it, are told
// of it. The root tells all of it; each namespace hears it in its order.

namespace troupe::mesh_internals {

namespace {

/// The job, and the one that a process of it started: "process failure within
/// a related job". Source: RFC0002, "Description".
std::vector<std::string> audience_of(self_pointer self, const job_record& job) {
  auto result = std::vector<std::string>{};
  for (const auto& nspace : {job.map.nspace, job.parent.proc.nspace})
    if (self->state.find_job(nspace) != nullptr)
      result.push_back(nspace);
  return result;
}

/// Tells the processes of these jobs, and whoever asks.
/// @param told Who gets it otherwise; empty: nobody.
void raise(self_pointer self, event what, std::vector<std::string> audience,
           const std::string& told = {}) {
  raise_event(self, what, audience);
  if (!told.empty())
    audience.push_back(told);
  auto copy = make_copy_for_askers(std::move(what), audience);
  self->state.environment->raise({copy.code, std::move(copy.infos)});
}

/// The same for some processes of other jobs, too.
void raise(self_pointer self, event what,
           const std::vector<std::string>& audience,
           std::vector<proc_id> others) {
  raise_event(self, what, audience);
  raise_event_for(self, what, others);
  for (const auto& nspace : audience)
    others.push_back({nspace, rank_wildcard});
  auto copy = make_copy_for_askers(std::move(what), std::move(others));
  self->state.environment->raise({copy.code, std::move(copy.infos)});
}

} // namespace

void tell_of_process(self_pointer self, const job_record& job,
                     const proc_changed& what, bool was_told) {
  auto x = make_end_event(what, was_told, job.options.recoverable);
  if (!x)
    return;
  const auto audience = audience_of(self, job);
  const auto peers = self->state.connected.peers_of(what.proc);
  // A good end is none for those that it is still connected to.
  if (x->code == status::event_proc_terminated) {
    raise(self, *x, audience);
    raise_event_for(self, make_unsynced_event(what), peers);
    return;
  }
  auto others = std::vector<proc_id>{};
  for (const auto& y : peers)
    if (std::find(audience.begin(), audience.end(), y.nspace) == audience.end())
      others.push_back(y);
  raise(self, std::move(*x), audience, std::move(others));
}

void tell_of_lost_connection(self_pointer self, const job_record& job,
                             const proc_id& proc) {
  raise(self, make_lost_connection_event(proc), audience_of(self, job));
}

void tell_of_job(self_pointer self, const job_record& job, status code) {
  raise(self, make_job_event(code, job.map.nspace), audience_of(self, job));
}

void tell_of_job_failure(self_pointer self, const job_record& job,
                         const std::vector<std::string>& connected) {
  auto audience = audience_of(self, job);
  for (const auto& nspace : connected)
    if (std::find(audience.begin(), audience.end(), nspace) == audience.end())
      audience.push_back(nspace);
  raise(self, make_job_event(status::job_term_wo_sync, job.map.nspace),
        std::move(audience));
}

void tell_of_job_end(self_pointer self, const job_record& job) {
  // A tool is told by the node that it is connected to.
  const auto& parent = job.parent.proc.nspace;
  auto jobs = audience_of(self, job);
  jobs.erase(std::remove(jobs.begin(), jobs.end(), job.map.nspace), jobs.end());
  raise(self, make_job_end_event(job.outcome.report()), std::move(jobs),
        parent);
}

void tell_of_node(self_pointer self, const job_record& job, status code,
                  const std::string& hostname) {
  // Not for those who ask: all who want it hear of any node.
  auto audience = audience_of(self, job);
  raise_event(self, make_node_event(code, hostname), audience);
  // Others hear of it as of any node, and these need not twice.
  for (auto& nspace : audience)
    self->state.told_of_node.insert(std::move(nspace));
}

} // namespace troupe::mesh_internals
