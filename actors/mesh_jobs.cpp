#include "actors/mesh_host_state.hpp"
#include "actors/node_mapping.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <csignal>

// Jobs, as the root sees them: mapped, started on all their nodes, ended as a
// whole. Each step asks the nodes and goes on when all have answered.

namespace troupe::mesh_internals {

namespace {

void check_over(self_pointer self, const std::string& nspace);

template <class Message>
void tell_observer(self_pointer self, const job_record& job, Message what) {
  if (job.observer)
    self->send(job.observer, std::move(what));
}

void answer_spawn(job_record& job, caf::expected<spawn_result> what) {
  if (const auto reply = std::exchange(job.reply, nullptr))
    reply(std::move(what));
}

void cancel(job_record& job) {
  answer_spawn(job, make_error(status::job_canceled,
                               "the job was ended while it started"));
}

std::string name_of(const mesh_host_state& state, uint32_t node) {
  const auto i = state.nodes.find(node);
  return i != state.nodes.end() ? i->second.name
                                : "number " + std::to_string(node);
}

std::vector<mapping_node> nodes_of(const mesh_host_state& state) {
  auto used = std::map<uint32_t, uint32_t>{};
  for (const auto& [nspace, job] : state.jobs)
    for (const auto& x : job.procs)
      if (!x.has_ended())
        ++used[x.node];
  auto result = std::vector<mapping_node>{};
  for (const auto& [rank, node] : state.nodes)
    if (node.takes_work())
      result.push_back({rank, node.name, *node.slots, used[rank]});
  return result;
}

uint32_t universe_of(const mesh_host_state& state) {
  auto result = uint32_t{0};
  for (const auto& [rank, node] : state.nodes)
    if (node.takes_work())
      result += *node.slots;
  return result;
}

// -- the end
// -----------------------------------------------------------------------

/// The job is over everywhere and forgotten.
void close_job(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  auto node = state.jobs.extract(nspace);
  if (node.empty())
    return;
  auto& job = node.mapped();
  tell_observer(self, job, job.outcome.report());
  state.locations.remove(nspace);
  state.outlets.erase(nspace);
  state.published.nspace_ended(nspace);
  if (!state.jobs.empty())
    return;
  for (auto& x : std::exchange(state.closing, {}))
    x(ack{});
}

/// All shares have ended: lets the nodes forget the job, then reports.
void report_end(self_pointer self, job_record& job) {
  job.reporting = true;
  cancel(job);
  const auto nspace = job.map.nspace;
  const auto what = forget_job{job.outcome.report()};
  auto nodes = std::vector<uint32_t>{};
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

void check_over(self_pointer self, const std::string& nspace) {
  auto* job = self->state.find_job(nspace);
  if (job != nullptr && !job->reporting && job->shares.empty())
    report_end(self, *job);
}

/// A share has ended, one way or another.
void drop_share(self_pointer self, const std::string& nspace, uint32_t node) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr || job->shares.erase(node) == 0)
    return;
  for (auto& x : job->procs)
    if (x.node == node && !x.has_ended())
      x.state = proc_state::killed_by_cmd;
  check_over(self, nspace);
}

/// Gives up a job that could not be started, whatever of it runs already.
void give_up(self_pointer self, job_record& job, const caf::error& why) {
  const auto code = status_of(why);
  const auto exit_status = code == status::job_exe_not_found        ? 127
                           : code == status::job_app_not_executable ? 126
                                                                    : 1;
  // A process that asked for a job hears why it has none; what that means is
  // its own affair.
  const auto is_spawned = job.parent.role == peer_role::client;
  job.outcome.end(reason_of(why), is_spawned ? 0 : exit_status);
  const auto nspace = job.map.nspace;
  answer_spawn(job, why);
  end_processes(self, nspace, SIGKILL);
}

// -- the start
// ---------------------------------------------------------------------

/// Why a node did not do its part, with its name if there are others.
caf::error blame(self_pointer self, const job_record& job, uint32_t node,
                 const caf::error& why) {
  if (job.map.shares.size() < 2 && node == self->state.options.rank)
    return why;
  return make_error(status_of(why), "node " + name_of(self->state, node) + ": "
                                      + reason_of(why));
}

void note_started(self_pointer self, const std::string& nspace, uint32_t node,
                  caf::expected<spawn_result> what) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr || job->reporting)
    return;
  --job->pending;
  if (!what) {
    // Once the job is being ended, that is why.
    if (!job->ending)
      give_up(self, *job, blame(self, *job, node, what.error()));
    else
      cancel(*job);
    return;
  }
  if (!what->entries.empty())
    job->started = std::move(*what);
  if (job->pending > 0)
    return;
  if (job->ending) {
    cancel(*job);
    return;
  }
  job->started.nspace = nspace;
  answer_spawn(*job, std::move(job->started));
}

void start_shares(self_pointer self, job_record& job) {
  const auto nspace = job.map.nspace;
  auto mapped = job_mapped{};
  mapped.nspace = nspace;
  mapped.map_by = mapping_of(job.options);
  mapped.bind_to = to_string(job.options.bind_to);
  for (const auto& x : job.map.shares) {
    mapped.hostname += (mapped.hostname.empty() ? "" : ",") + x.hostname;
    mapped.procs.insert(mapped.procs.end(), x.procs.begin(), x.procs.end());
  }
  std::sort(mapped.procs.begin(), mapped.procs.end(),
            [](const auto& x, const auto& y) { return x.rank < y.rank; });
  tell_observer(self, job, std::move(mapped));
  if (job.options.timeout)
    call_later(self, *job.options.timeout, [self, nspace] {
      if (auto* job = self->state.find_job(nspace)) {
        job->outcome.end("the job ran longer than its time-out", 124);
        end_processes(self, nspace, SIGTERM);
      }
    });
  const auto nodes = job.shares;
  job.pending = nodes.size();
  for (const auto node : nodes)
    ask(self, node, start_share{nspace},
        reply_to<spawn_result>(
          [self, nspace, node](caf::expected<spawn_result> x) {
            note_started(self, nspace, node, std::move(x));
          }));
}

void note_prepared(self_pointer self, const std::string& nspace, uint32_t node,
                   caf::expected<job_map> what) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr || job->reporting)
    return;
  --job->pending;
  if (!what && !job->ending) {
    give_up(self, *job, blame(self, *job, node, what.error()));
    return;
  }
  // The processors of its processes; a node speaks for no other.
  if (what)
    for (auto& theirs : what->shares)
      for (auto& ours : job->map.shares)
        if (theirs.node == node && ours.node == node
            && theirs.procs.size() == ours.procs.size())
          for (size_t i = 0; i < ours.procs.size(); ++i)
            ours.procs[i].cpus = std::move(theirs.procs[i].cpus);
  if (job->ending)
    cancel(*job);
  else if (job->pending == 0)
    start_shares(self, *job);
}

void prepare_shares(self_pointer self, job_record& job,
                    spawn_request& request) {
  auto& state = self->state;
  const auto nspace = job.map.nspace;
  auto order = prepare_share{};
  order.map = job.map;
  order.request = std::move(request);
  order.parent = job.parent;
  order.origin = job.origin;
  order.universe = universe_of(state);
  job.informed = job.shares;
  job.informed.insert(job.origin);
  const auto nodes = job.informed;
  job.pending = nodes.size();
  for (const auto node : nodes)
    ask(self, node, order,
        reply_to<job_map>([self, nspace, node](caf::expected<job_map> x) {
          note_prepared(self, nspace, node, std::move(x));
        }));
}

} // namespace

void begin_job(self_pointer self, job_order order) {
  auto& state = self->state;
  if (!state.server || state.is_closing) {
    order.reply(
      !state.server
        ? make_error(status::init, "the host has no server to serve the job")
        : make_error(status::not_available, "the DVM is ending"));
    return;
  }
  const auto number = state.next_job++;
  const auto nspace =
    state.options.server.nspace + "@" + std::to_string(number);
  auto& job = state.jobs[nspace];
  job.map.nspace = nspace;
  job.map.number = number;
  job.parent = std::move(order.who);
  job.origin = order.origin;
  job.observer = std::move(order.observer);
  job.reply = std::move(order.reply);
  job.outcome = job_outcome{nspace};
  auto options = read_options(order.request);
  if (!options) {
    give_up(self, job, options.error());
    return;
  }
  job.options = std::move(*options);
  job.oversubscribe = job.options.oversubscribe |= order.oversubscribe;
  auto shares = map_job(order.request, job.options, nodes_of(state));
  if (!shares) {
    give_up(self, job, shares.error());
    return;
  }
  job.map.shares = std::move(*shares);
  for (const auto& x : order.request.apps)
    job.commands.push_back(x.cmd);
  for (const auto& x : job.map.shares) {
    job.shares.insert(x.node);
    for (const auto& proc : x.procs) {
      if (job.procs.size() <= proc.rank)
        job.procs.resize(proc.rank + 1);
      job.procs[proc.rank].node = x.node;
      job.procs[proc.rank].app = proc.app;
    }
  }
  state.locations.add(job.map);
  prepare_shares(self, job, order.request);
}

void end_processes(self_pointer self, const std::string& nspace,
                   int32_t signal) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr || job->reporting)
    return;
  job->ending = true;
  const auto nodes = job->shares;
  for (const auto node : nodes) {
    auto what = end_share{};
    what.how.nspace = nspace;
    what.how.signal = signal;
    ask(self, node, std::move(what),
        reply_to<ack>([self, nspace, node](const caf::expected<ack>& x) {
          // It never had a share, or is no more.
          if (!x
              && (status_of(x.error()) == status::not_found
                  || !self->state.calls->is_live(node)))
            drop_share(self, nspace, node);
        }));
  }
  check_over(self, nspace);
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

/// The other nodes of the job, and those of its parent, will miss these.
void spread(self_pointer self, job_record& job, uint32_t from,
            const std::vector<proc_ended>& gone) {
  auto nodes = job.shares;
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

/// Notes new states of processes of one node.
/// @returns whether the job is to be ended for it.
bool note_states(self_pointer self, job_record& job, uint32_t from,
                 const std::vector<proc_changed>& procs) {
  auto& state = self->state;
  auto has_failed = false;
  auto gone = std::vector<proc_ended>{};
  for (const auto& x : procs) {
    // X41: a daemon speaks for its own processes.
    if (x.proc.nspace != job.map.nspace || x.proc.rank >= job.procs.size()
        || job.procs[x.proc.rank].node != from) {
      state.log(severity::error, "node " + name_of(state, from) + " speaks for "
                                   + to_string(x.proc)
                                   + ", which is not its own: ignored");
      continue;
    }
    auto& proc = job.procs[x.proc.rank];
    if (proc.has_ended())
      continue;
    proc.state = x.state;
    proc.pid = x.pid;
    proc.exit_code = x.exit_code;
    tell_observer(self, job, x);
    const auto has_run = x.state != proc_state::failed_to_start
                         && x.state != proc_state::killed_by_cmd;
    if (!proc.has_ended() || !has_run)
      continue;
    forget_process(state, x.proc);
    gone.push_back({x.proc, x.state});
    job.outcome.add({x.proc.rank, x.state, x.exit_code, x.signal, job.ending});
    has_failed |= is_failure(x.state, job.options.abort_non_zero);
  }
  if (!gone.empty() && !job.ending)
    spread(self, job, from, gone);
  return has_failed && !job.options.recoverable && !job.ending;
}

} // namespace

void note_progress(self_pointer self, uint32_t from,
                   const share_progress& what) {
  auto* job = self->state.find_job(what.nspace);
  if (job != nullptr && note_states(self, *job, from, what.procs))
    end_processes(self, what.nspace, SIGTERM);
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
      job->outcome.lose(name_of(state, node), changes.size());
    note_states(self, *job, node, changes);
    job->informed.erase(node);
    const auto goes_on =
      job->options.recoverable && !is_origin && !was_starting;
    if (was_starting)
      answer_spawn(*job, make_error(status::job_failed_to_launch,
                                    "node " + name_of(state, node)
                                      + " was lost while the job started"));
    if (!goes_on && !changes.empty() && !job->ending)
      end_processes(self, nspace, SIGTERM);
    else if (is_origin && !job->ending)
      end_processes(self, nspace, SIGTERM);
    check_over(self, nspace);
  }
}

} // namespace troupe::mesh_internals
