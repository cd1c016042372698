#include "actors/mesh/mesh_host_state.hpp"

#include <algorithm>
#include <csignal>

// Which end of a process was the cause of others: one that was killed is, and
// not the exits of its peers, whichever of them the root hears of first.

namespace troupe::mesh_internals {

namespace {

/// How long the exits of one node wait for what the others say: those may have
/// to wait themselves for the end of a process that lost its connection.
constexpr auto inquiry_wait = 2 * defaults::lost_connection_wait;

/// What is known now has to do.
void judge_held(self_pointer self, const std::string& nspace,
                uint64_t inquiry) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr || !job->inquires || job->inquiry != inquiry)
    return;
  const auto failed = count_held(*job);
  if (failed.empty() || job->ending)
    return;
  end_connected(self, failed);
  end_processes(self, nspace, SIGTERM);
}

} // namespace

bool may_follow(const job_record& job, uint32_t from,
                const proc_changed& what) {
  const auto is_failing_exit = what.signal == 0
                               && (what.state == proc_state::term_non_zero
                                   || what.state == proc_state::term_wo_sync);
  return is_failing_exit && !job.ending
         && std::any_of(job.shares.begin(), job.shares.end(),
                        [&](uint32_t node) { return node != from; });
}

void inquire(self_pointer self, job_record& job, uint32_t from) {
  const auto nspace = job.map.nspace;
  const auto inquiry = job.inquiry;
  auto questions = std::map<uint32_t, control_procs>{};
  for (const auto node : job.shares)
    if (node != from)
      questions[node] = {nspace, {}, control_action::signal, 0};
  for (uint32_t rank = 0; rank < job.procs.size(); ++rank) {
    const auto& x = job.procs[rank];
    const auto question = questions.find(x.node);
    if (question != questions.end() && !x.has_ended())
      question->second.ranks.push_back(rank);
  }
  job.inquires = true;
  call_later(self, inquiry_wait,
             [self, nspace, inquiry] { judge_held(self, nspace, inquiry); });
  auto left = std::make_shared<size_t>(questions.size() + 1);
  // A node has told how its processes ended before it answers; one that does
  // not answer is lost.
  const auto done = [self, nspace, inquiry,
                     left](const caf::expected<host_reply>&) {
    if (--*left == 0)
      judge_held(self, nspace, inquiry);
  };
  for (auto& [node, question] : questions)
    ask(self, node, std::move(question), done);
  done(ack{});
}

std::vector<proc_id> count_held(job_record& job) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : std::exchange(job.held, {})) {
    job.outcome.add(x.what);
    if (x.is_fatal)
      result.push_back({job.map.nspace, x.what.rank});
  }
  if (std::exchange(job.inquires, false))
    ++job.inquiry;
  return result;
}

} // namespace troupe::mesh_internals
