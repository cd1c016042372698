#include "actors/jobs/process_events.hpp"
#include "actors/mesh/mesh_host_state.hpp"

#include <utility>

// What the processes of a job, and those of the job that started it, are told
// of it. The root tells all of it; each namespace hears it in its order.

namespace troupe::mesh_internals {

namespace {

/// Tells the processes of those among these namespaces that are jobs.
void raise(self_pointer self, const event& what,
           const std::vector<std::string>& audience) {
  auto jobs = std::vector<std::string>{};
  for (const auto& nspace : audience)
    if (self->state.find_job(nspace) != nullptr)
      jobs.push_back(nspace);
  raise_event(self, what, jobs);
}

/// The job, and the one that a process of it started: "process failure within
/// a related job". Source: RFC0002, "Description".
std::vector<std::string> audience_of(const job_record& job) {
  return {job.map.nspace, job.parent.proc.nspace};
}

} // namespace

void tell_of_process(self_pointer self, const job_record& job,
                     const proc_changed& what, bool was_told) {
  if (auto x = make_end_event(what, was_told, job.options.recoverable))
    raise(self, *x, audience_of(job));
}

void tell_of_lost_connection(self_pointer self, const job_record& job,
                             const proc_id& proc) {
  raise(self, make_lost_connection_event(proc), audience_of(job));
}

void tell_of_job(self_pointer self, const job_record& job, status code) {
  raise(self, make_job_event(code, job.map.nspace), audience_of(job));
}

void tell_of_job_end(self_pointer self, const job_record& job) {
  raise(self, make_job_end_event(job.outcome.report()),
        {job.parent.proc.nspace});
}

void tell_of_node(self_pointer self, const job_record& job, status code,
                  const std::string& hostname) {
  auto audience = audience_of(job);
  raise(self, make_node_event(code, hostname), audience);
  // Others hear of it as of any node, and these need not twice.
  for (auto& nspace : audience)
    self->state.told_of_node.insert(std::move(nspace));
}

} // namespace troupe::mesh_internals
