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

} // namespace

void tell_of_process(self_pointer self, const job_record& job,
                     const proc_changed& what, bool was_told) {
  if (auto x = make_end_event(what, was_told, job.options.recoverable))
    raise(self, *x, audience_of(self, job));
}

void tell_of_lost_connection(self_pointer self, const job_record& job,
                             const proc_id& proc) {
  raise(self, make_lost_connection_event(proc), audience_of(self, job));
}

void tell_of_job(self_pointer self, const job_record& job, status code) {
  raise(self, make_job_event(code, job.map.nspace), audience_of(self, job));
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
