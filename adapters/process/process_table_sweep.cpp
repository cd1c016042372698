#include "adapters/process/descendants.hpp"
#include "adapters/process/own_children.hpp"
#include "adapters/process/process_table.hpp"

#include <caf/all.hpp>

#include <signal.h>

#include <algorithm>
#include <set>
#include <utility>

// The end of what a job has left behind.

namespace troupe {

namespace {

constexpr auto max_sweep_pause = std::chrono::milliseconds{50};

} // namespace

void process_table::sweep(const std::string& nspace,
                          caf::typed_response_promise<ack> reply) {
  auto& x = sweeps_[nspace];
  x.replies.push_back(std::move(reply));
  if (x.replies.size() > 1)
    return; // Under way.
  x.deadline = std::chrono::steady_clock::now() + settings_.sweep_limit;
  continue_sweep(nspace);
}

void process_table::continue_sweep(const std::string& nspace) {
  if (is_swept(nspace)) {
    finish_sweep(nspace, true);
    return;
  }
  auto& x = sweeps_.at(nspace);
  if (std::chrono::steady_clock::now() >= x.deadline) {
    finish_sweep(nspace, false);
    return;
  }
  if (!x.next)
    x.next = std::make_unique<timer>(
      loop_, [this, nspace] { continue_sweep(nspace); });
  x.next->start(x.pause);
  x.pause = std::min(x.pause * 2, max_sweep_pause);
}

/// Kills what is left of a job.
/// @returns whether nothing was.
bool process_table::is_swept(const std::string& nspace) {
  reap_children();
  if (!has_children())
    return true; // Orphans would be among our children.
  check_groups();
  auto is_clean = true;
  for (const auto& [id, x] : records_)
    if (x.proc.nspace == nspace && (x.is_running() || x.has_group)) {
      signal_group(x, SIGKILL);
      is_clean = false;
    }
  return kill_leftovers(nspace) == 0 && is_clean;
}

size_t process_table::kill_leftovers(const std::string& nspace) {
  std::set<pid_t> groups;
  std::set<pid_t> others;
  for (const auto& [id, x] : records_)
    if (x.proc.nspace == nspace) {
      if (x.is_running() || x.has_group)
        groups.insert(x.pid);
    } else if (x.is_running()) {
      others.insert(x.pid);
    }
  return kill_descendants(nspace, groups, others);
}

/// What is left of the job has been killed, or cannot be: nobody is left whose
/// output is waited for.
void process_table::finish_sweep(const std::string& nspace, bool done) {
  const auto complaint =
    "processes of the job " + nspace + " do not end although they were killed";
  if (!done)
    log(severity::error, complaint);
  auto& sweep = sweeps_.at(nspace);
  sweep.next.reset();
  sweep.outcome = done ? caf::error{} : make_error(status::timeout, complaint);
  auto ended = std::vector<uint64_t>{};
  for (auto& [id, x] : records_)
    if (x.proc.nspace == nspace && !x.is_running()) {
      if (done)
        x.has_group = false;
      ended.push_back(id);
    }
  for (const auto id : ended) {
    for (auto& [channel, stream] : records_.at(id).out)
      stream->end_when_empty();
    settle(records_.find(id));
  }
  answer_sweep(nspace);
}

/// Answers once the streams of the job have come to their ends, so that nothing
/// of it comes later.
void process_table::answer_sweep(const std::string& nspace) {
  const auto sweep = sweeps_.find(nspace);
  if (sweep == sweeps_.end() || !sweep->second.outcome)
    return;
  for (const auto& [id, x] : records_)
    if (x.proc.nspace == nspace && !x.is_running() && !x.is_silent())
      return;
  auto node = sweeps_.extract(sweep);
  const auto& outcome = *node.mapped().outcome;
  for (auto& reply : node.mapped().replies)
    if (outcome)
      reply.deliver(outcome);
    else
      reply.deliver(ack{});
}

} // namespace troupe
