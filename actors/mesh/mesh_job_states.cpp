#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <csignal>

// What becomes of jobs, as the root hears of it: processes change their states,
// shares end, nodes are lost.

namespace troupe::mesh_internals {

namespace {

template <class Message>
void tell_observer(self_pointer self, const job_record& job, Message what) {
  if (job.observer)
    self->send(job.observer, std::move(what));
}

} // namespace

// -- the end
// -----------------------------------------------------------------------

namespace {

/// The job is over everywhere and forgotten.
void close_job(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  auto node = state.jobs.extract(nspace);
  if (node.empty())
    return;
  auto& job = node.mapped();
  tell_of_job_end(self, job);
  tell_observer(self, job, job.outcome.report());
  state.checkpoints.job_over(nspace);
  state.control->job_over(nspace);
  state.locations.remove(nspace);
  state.sequencer->job_forgotten(nspace);
  state.outlets.erase(nspace);
  state.published.nspace_ended(nspace);
  state.connected.forget(nspace);
  end_sets_of(self, nspace);
  if (!state.jobs.empty())
    return;
  for (auto& x : std::exchange(state.closing, {}))
    x(ack{});
}

/// All shares have ended: lets the nodes forget the job, then reports.
void report_end(self_pointer self, job_record& job) {
  job.reporting = true;
  job.cancel();
  const auto nspace = job.map.nspace;
  const auto what = forget_job{job.outcome.report()};
  auto nodes = std::vector<uint32_t>{};
  // Processes of this node may wait for some of it, too.
  job.informed.insert(self->state.options.rank);
  for (const auto node : job.informed)
    if (self->state.calls->is_live(node))
      nodes.push_back(node);
  auto left = std::make_shared<size_t>(nodes.size() + 1);
  const auto done = [self, nspace, left](const caf::expected<host_reply>&) {
    if (--*left == 0)
      close_job(self, nspace);
  };
  for (const auto node : nodes)
    ask(self, node, what, done);
  done(ack{});
}

} // namespace

void check_over(self_pointer self, const std::string& nspace) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr || job->reporting || !job->shares.empty())
    return;
  // A short job may be over before all nodes have said that it runs.
  if (job->reply != nullptr && job->pending > 0 && !job->ending)
    return;
  if (!job->held.empty()) {
    // All nodes have said how their processes ended.
    end_connected(self, count_held(*job));
    check_over(self, nspace);
    return;
  }
  report_end(self, *job);
}

proc_place place_of(const mesh_host_state& state, const job_record& job,
                    uint32_t rank) {
  auto result = proc_place{};
  if (rank >= job.procs.size())
    return result;
  const auto& x = job.procs[rank];
  if (x.app < job.commands.size())
    result.program = job.commands[x.app];
  result.pid = x.pid;
  result.node = state.name_of(x.node);
  return result;
}

// -- what shares report
// -------------------------------------------------------------

namespace {

void tell_gone(self_pointer self, const std::string& nspace, uint32_t node) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr)
    return;
  auto& queue = job->gone[node];
  if (queue.telling || queue.waiting.empty())
    return;
  queue.telling = true;
  ask(self, node, procs_gone{std::exchange(queue.waiting, {})},
      [self, nspace, node](const caf::expected<host_reply>&) {
        if (auto* job = self->state.find_job(nspace)) {
          job->gone[node].telling = false;
          tell_gone(self, nspace, node);
        }
      });
}

/// All nodes that have heard of the job, and those of its parent, will miss
/// these; and this one.
void spread(self_pointer self, job_record& job, uint32_t from,
            const std::vector<proc_ended>& gone) {
  auto nodes = job.informed;
  nodes.insert(self->state.options.rank);
  if (const auto* parent = self->state.find_job(job.parent.proc.nspace))
    nodes.insert(parent->shares.begin(), parent->shares.end());
  nodes.erase(from);
  const auto nspace = job.map.nspace;
  for (const auto node : nodes) {
    auto& waiting = job.gone[node].waiting;
    waiting.insert(waiting.end(), gone.begin(), gone.end());
    tell_gone(self, nspace, node);
  }
}

/// Whoever waits for the end of processes hears of it, and may go on: jobs may
/// end, or be over, when this returns.
void note_controlled(mesh_host_state& state,
                     const std::vector<proc_ended>& gone) {
  auto procs = std::vector<proc_id>{};
  for (const auto& x : gone)
    procs.push_back(x.proc);
  if (procs.empty())
    return;
  state.checkpoints.procs_ended(procs);
  state.control->procs_ended(procs);
}

} // namespace

void drop_share(self_pointer self, const std::string& nspace, uint32_t node) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr || job->shares.erase(node) == 0)
    return;
  auto gone = std::vector<proc_ended>{};
  for (uint32_t rank = 0; rank < job->procs.size(); ++rank) {
    auto& x = job->procs[rank];
    if (x.node != node || x.has_ended())
      continue;
    x.state = proc_state::killed_by_cmd;
    gone.push_back({{nspace, rank}, x.state});
  }
  if (!gone.empty() && !job->ending)
    spread(self, *job, node, gone);
  check_over(self, nspace);
  note_controlled(self->state, gone);
}

void inform(self_pointer self, job_record& job, uint32_t node) {
  if (!job.informed.insert(node).second)
    return;
  auto& waiting = job.gone[node].waiting;
  for (uint32_t rank = 0; rank < job.procs.size(); ++rank)
    if (const auto& x = job.procs[rank]; x.has_ended())
      waiting.push_back({{job.map.nspace, rank}, x.state});
  tell_gone(self, job.map.nspace, node);
}

namespace {

/// What new states of processes come to.
struct noted_states {
  /// Who has failed in a way that ends the job.
  std::vector<proc_id> failed;

  /// Who has ended.
  std::vector<proc_ended> gone;
};

/// Notes new states of processes of one node.
noted_states note_states(self_pointer self, job_record& job, uint32_t from,
                         const std::vector<proc_changed>& procs) {
  auto& state = self->state;
  const auto is_fatal = !job.options.recoverable && !job.ending;
  auto result = noted_states{};
  auto& gone = result.gone;
  for (const auto& x : procs) {
    // X41: a daemon speaks for its own processes.
    if (x.proc.nspace != job.map.nspace || x.proc.rank >= job.procs.size()
        || job.procs[x.proc.rank].node != from) {
      state.log(severity::error, "node " + state.name_of(from) + " speaks for "
                                   + to_string(x.proc)
                                   + ", which is not its own: ignored");
      continue;
    }
    auto& proc = job.procs[x.proc.rank];
    if (proc.has_ended())
      continue;
    const auto was_connected = proc.state == proc_state::connected;
    proc.state = x.state;
    proc.pid = x.pid;
    proc.exit_code = x.exit_code;
    tell_observer(self, job, x);
    // Who was killed by command may have been so before it ran.
    const auto has_run =
      x.state != proc_state::failed_to_start
      && (x.state != proc_state::killed_by_cmd || x.pid != 0);
    if (has_run && !std::exchange(job.has_begun, true))
      tell_of_job(self, job, status::job_start);
    if (was_connected && x.state == proc_state::running)
      tell_of_lost_connection(self, job, x.proc);
    if (!proc.has_ended())
      continue;
    gone.push_back({x.proc, x.state});
    if (!has_run)
      continue;
    tell_of_process(self, job, x, job.ending);
    forget_process(state, x.proc);
    const auto ended =
      proc_outcome{x.proc.rank, x.state,    x.exit_code,
                   x.signal,    job.ending, place_of(state, job, x.proc.rank)};
    const auto ends_job = is_fatal && x.state != proc_state::killed_by_cmd
                          && is_failure(x.state, job.options.abort_non_zero);
    job.has_failed |= ends_job;
    if (may_follow(job, from, x)) {
      job.held.push_back({ended, ends_job});
      continue;
    }
    job.outcome.add(ended);
    if (ends_job)
      result.failed.push_back(x.proc);
  }
  if (!gone.empty() && !job.ending)
    spread(self, job, from, gone);
  return result;
}

} // namespace

void note_progress(self_pointer self, uint32_t from,
                   const share_progress& what) {
  auto* job = self->state.find_job(what.nspace);
  if (job == nullptr)
    return;
  const auto noted = note_states(self, *job, from, what.procs);
  if (!noted.failed.empty()) {
    end_connected(self, noted.failed);
    end_processes(self, what.nspace, SIGTERM);
  } else if (!job->held.empty() && !job->inquires) {
    inquire(self, *job, from);
  }
  note_controlled(self->state, noted.gone);
}

void note_share_ended(self_pointer self, uint32_t from,
                      const std::string& nspace) {
  drop_share(self, nspace, from);
}

void lose_node(self_pointer self, uint32_t node) {
  auto& state = self->state;
  auto hit = std::vector<std::string>{};
  for (const auto& [nspace, job] : state.jobs)
    if (!job.reporting && (job.shares.count(node) > 0 || job.origin == node))
      hit.push_back(nspace);
  for (const auto& nspace : hit) {
    auto* job = state.find_job(nspace);
    if (job == nullptr)
      continue;
    auto changes = std::vector<proc_changed>{};
    for (uint32_t rank = 0; rank < job->procs.size(); ++rank) {
      const auto& x = job->procs[rank];
      if (x.node == node && !x.has_ended())
        changes.push_back(
          {{nspace, rank}, proc_state::comm_failed, x.pid, 0, 0});
    }
    const auto is_origin = job->origin == node;
    const auto was_starting = job->reply != nullptr;
    job->shares.erase(node);
    if (!job->ending && (!changes.empty() || is_origin))
      job->outcome.lose(state.name_of(node), changes.size());
    const auto noted = note_states(self, *job, node, changes);
    job->informed.erase(node);
    const auto goes_on =
      job->options.recoverable && !is_origin && !was_starting;
    if (was_starting)
      job->answer(make_error(status::job_failed_to_launch,
                             "node " + state.name_of(node)
                               + " was lost while the job started"));
    if (!changes.empty())
      tell_of_node(self, *job, status::event_node_down, state.name_of(node));
    if (!job->ending && (is_origin || (!goes_on && !changes.empty()))) {
      end_connected(self, noted.failed);
      end_processes(self, nspace, SIGTERM);
    }
    check_over(self, nspace);
    note_controlled(state, noted.gone);
  }
  state.connected.node_lost(node);
}

} // namespace troupe::mesh_internals
