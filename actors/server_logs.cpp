#include "actors/log_plan.hpp"
#include "actors/server_state.hpp"

#include <memory>

namespace troupe::server_internals {

namespace {

/// A log request on its way through its channels.
struct log_job {
  requester who;
  log_request others;
  log_plan plan;
  size_t next = 0;
  size_t written = 0;
  answer<ack> reply;
};

void write_next(self_pointer self, const std::shared_ptr<log_job>& job);

void finish(log_job& job) {
  if (job.written > 0 && (job.plan.once || job.plan.code == status::success))
    job.reply.give({});
  else if (job.written > 0)
    job.reply.fail(status::partial_success, job.plan.reason);
  else
    job.reply.fail(job.plan.code, job.plan.reason);
}

/// What this node has no channel for, the host may take.
void ask_host(self_pointer self, const std::shared_ptr<log_job>& job) {
  self
    ->request(self->state.directory.host, caf::infinite, job->who,
              std::move(job->others))
    .then(
      [=](ack) {
        ++job->written;
        if (job->plan.code == status::not_supported)
          job->plan.code = status::success;
        finish(*job);
      },
      [=](const caf::error&) { finish(*job); });
}

void write_next(self_pointer self, const std::shared_ptr<log_job>& job) {
  const auto is_enough = job->plan.once && job->written > 0;
  if (is_enough || job->next == job->plan.entries.size()) {
    if (is_enough || job->others.data.empty())
      finish(*job);
    else
      ask_host(self, job);
    return;
  }
  self
    ->request(self->state.directory.logs, caf::infinite,
              std::move(job->plan.entries[job->next++]))
    .then(
      [=](ack) {
        ++job->written;
        write_next(self, job);
      },
      [=](const caf::error& err) {
        if (job->plan.code == status::success) {
          job->plan.code = status_of(err);
          job->plan.reason = reason_of(err);
        }
        self->state.log(severity::warning, "a log entry of "
                                             + to_string(job->who.proc)
                                             + " is lost: " + reason_of(err));
        write_next(self, job);
      });
}

} // namespace

caf::result<ack> write_log(self_pointer self, const requester& who,
                           const log_request& request) {
  auto promise = self->make_response_promise<ack>();
  auto job = std::make_shared<log_job>();
  job->plan = plan_log(who, request);
  job->who = who;
  job->others = {request.timestamp, std::move(job->plan.others),
                 request.directives};
  job->reply = answer<ack>{promise};
  write_next(self, job);
  return promise;
}

} // namespace troupe::server_internals
