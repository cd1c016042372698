#include "actors/jobs/job_plan.hpp"
#include "actors/jobs/number_list.hpp"
#include "actors/jobs/placement.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "actors/mesh/node_mapping.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <csignal>

// Jobs, as the root sees them: mapped, started on all their nodes, ended as a
// whole. Each step asks the nodes and goes on when all have answered.

namespace troupe::mesh_internals {

namespace {

template <class Message>
void tell_observer(self_pointer self, const job_record& job, Message what) {
  if (job.observer)
    self->send(job.observer, std::move(what));
}

/// How many objects nodes have, by rank.
using object_counts = std::map<uint32_t, uint32_t>;

/// @param objects Null: they do not matter. Who has not told takes no process.
std::vector<mapping_node> nodes_of(const mesh_host_state& state,
                                   const object_counts* objects = nullptr) {
  auto used = std::map<uint32_t, uint32_t>{};
  for (const auto& [nspace, job] : state.jobs)
    for (const auto& x : job.procs)
      if (!x.has_ended())
        ++used[x.node];
  auto result = std::vector<mapping_node>{};
  for (const auto& [rank, node] : state.nodes) {
    if (!node.takes_work())
      continue;
    auto& x = result.emplace_back();
    x = {rank, node.name, *node.slots, used[rank], node.max_slots, 1};
    // Those of all its cores may be more.
    if (x.max_slots > 0)
      x.slots = std::min(x.slots, x.max_slots);
    if (objects == nullptr)
      continue;
    const auto found = objects->find(rank);
    x.objects = found != objects->end() ? found->second : 0;
    if (x.objects == 0)
      x.slots = 0;
  }
  return result;
}

uint32_t universe_of(const mesh_host_state& state) {
  auto result = uint32_t{0};
  for (const auto& [rank, node] : state.nodes)
    if (node.takes_work())
      result += *node.slots;
  return result;
}

/// Gives up a job that could not be started, whatever of it runs already.
void give_up(self_pointer self, job_record& job, const caf::error& why) {
  const auto exit_status = exit_status_of_refusal(status_of(why));
  // A process that asked for a job hears why it has none; what that means is
  // its own affair.
  const auto is_spawned = job.parent.role == peer_role::client;
  job.outcome.end(reason_of(why), is_spawned ? 0 : exit_status);
  const auto nspace = job.map.nspace;
  job.answer(why);
  end_processes(self, nspace, SIGKILL);
}

// -- the start
// ---------------------------------------------------------------------

/// Why a node did not do its part, with its name if there are others.
caf::error blame(self_pointer self, const job_record& job, uint32_t node,
                 const caf::error& why) {
  if (job.map.shares.size() < 2 && node == self->state.options.rank)
    return why;
  return make_error(status_of(why), "node " + self->state.name_of(node) + ": "
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
      job->cancel();
    check_over(self, nspace);
    return;
  }
  if (!what->entries.empty())
    job->started = std::move(*what);
  if (job->pending > 0)
    return;
  if (job->ending) {
    job->cancel();
    return;
  }
  job->started.nspace = nspace;
  tell_of_job(self, *job, status::launch_complete);
  job->answer(std::move(job->started));
  check_over(self, nspace);
}

/// What a tool that asked for a mere map is told: it has no observer.
std::string describe_map(const job_mapped& map) {
  auto result = std::to_string(map.procs.size()) + " processes, mapped by "
                + map.map_by + ", bound to " + map.bind_to
                + "; nothing was started";
  for (size_t i = 0; i < map.procs.size(); ++i) {
    const auto& x = map.procs[i];
    result += "\n  rank " + std::to_string(x.rank) + ": app "
              + std::to_string(x.app) + ", node " + map.hosts[i];
    if (!x.cpus.empty())
      result += ", cpus " + to_ranges(x.cpus);
  }
  return result;
}

/// Ends a job that was to be mapped only.
void end_dry(self_pointer self, job_record& job, const std::string& map) {
  const auto nspace = job.map.nspace;
  job.outcome.end(map, 0);
  job.started.nspace = nspace;
  job.answer(std::move(job.started));
  end_processes(self, nspace, SIGKILL);
}

void start_shares(self_pointer self, job_record& job) {
  const auto nspace = job.map.nspace;
  if (!job.sets.empty()) {
    tell_sets(self, std::exchange(job.sets, {}), [self, nspace] {
      auto* job = self->state.find_job(nspace);
      if (job == nullptr || job->reporting)
        return;
      if (job->ending)
        job->cancel();
      else
        start_shares(self, *job);
    });
    return;
  }
  auto mapped = job_mapped{};
  mapped.nspace = nspace;
  mapped.map_by = mapping_of(job.options);
  const auto is_bound = std::any_of(
    job.map.shares.begin(), job.map.shares.end(), [](const auto& x) {
      return std::any_of(x.procs.begin(), x.procs.end(),
                         [](const auto& y) { return !y.cpus.empty(); });
    });
  mapped.bind_to =
    to_string(is_bound ? job.options.bind_to : resource_kind::none);
  for (const auto& x : job.map.shares) {
    mapped.hostname += (mapped.hostname.empty() ? "" : ",") + x.hostname;
    mapped.procs.insert(mapped.procs.end(), x.procs.begin(), x.procs.end());
  }
  std::sort(mapped.procs.begin(), mapped.procs.end(),
            [](const auto& x, const auto& y) { return x.rank < y.rank; });
  for (const auto& x : mapped.procs)
    mapped.hosts.push_back(self->state.name_of(job.procs[x.rank].node));
  if (job.options.is_dry) {
    const auto text = job.observer ? std::string{} : describe_map(mapped);
    tell_observer(self, job, std::move(mapped));
    end_dry(self, job, text);
    return;
  }
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
  // Who only watches does not keep a job from starting.
  const auto takes_part = job->shares.count(node) > 0 || node == job->origin;
  if (!what && !job->ending && takes_part) {
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
    job->cancel();
  else if (job->pending == 0)
    start_shares(self, *job);
}

/// Nodes of a job that have more processes than slots or processors, those of
/// other jobs counted. Source: PMIx Standard v5, PMIX_NODE_OVERSUBSCRIBED.
std::vector<uint32_t> oversubscribed_nodes(const mesh_host_state& state,
                                           const job_record& job) {
  auto result = std::vector<uint32_t>{};
  for (const auto& x : nodes_of(state)) {
    const auto processors = state.nodes.at(x.rank).processors;
    const auto is_over =
      x.used > x.slots || (processors > 0 && x.used > processors);
    if (is_over && job.shares.count(x.rank) > 0)
      result.push_back(x.rank);
  }
  return result;
}

void prepare_shares(self_pointer self, job_record& job,
                    spawn_request& request) {
  auto& state = self->state;
  const auto nspace = job.map.nspace;
  auto order = prepare_share{};
  order.map = job.map;
  order.request = std::move(request);
  mark_oversubscribed(order.request, oversubscribed_nodes(state, job));
  order.parent = job.parent;
  order.origin = job.origin;
  order.universe = universe_of(state);
  if (job.observer && *job.shares.rbegin() != state.options.rank) {
    order.environment = state.options.environment;
    order.working_directory = state.options.working_directory;
  }
  order.watchers = watchers_of(state, job, order.request);
  job.informed = job.shares;
  job.informed.insert(job.origin);
  for (const auto& x : order.watchers) {
    job.watchers[x.node] = x.channels;
    job.informed.insert(x.node);
  }
  const auto nodes = job.informed;
  job.pending = nodes.size();
  for (const auto node : nodes)
    ask(self, node, order,
        reply_to<job_map>([self, nspace, node](caf::expected<job_map> x) {
          note_prepared(self, nspace, node, std::move(x));
        }));
}

/// Maps a job, and prepares its nodes.
void map_and_prepare(self_pointer self, job_record& job, spawn_request& request,
                     const object_counts* objects) {
  auto& state = self->state;
  auto nodes = nodes_of(state, objects);
  if (job.options.no_local)
    nodes.erase(std::remove_if(
                  nodes.begin(), nodes.end(),
                  [&](const mapping_node& x) { return x.rank == job.origin; }),
                nodes.end());
  auto shares = map_job(request, job.options, nodes);
  if (!shares) {
    give_up(self, job, shares.error());
    return;
  }
  job.map.shares = std::move(*shares);
  for (const auto& x : request.apps)
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
  // Now it is known how many there are.
  settle(job.options, static_cast<uint32_t>(job.procs.size()));
  if (const auto why = define_sets_of(self, job, request, job.sets)) {
    give_up(self, job, why);
    return;
  }
  record_job(state, job, request);
  state.locations.add(job.map);
  prepare_shares(self, job, request);
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
  job.options.oversubscribe |=
    order.oversubscribe && !job.options.never_oversubscribe;
  job.oversubscribe = job.options.oversubscribe;
  auto size = uint64_t{0};
  for (const auto& x : order.request.apps)
    size += static_cast<uint64_t>(std::max(0, x.max_procs));
  settle(job.options,
         static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX)));
  const auto counted = counted_objects(job.options);
  if (counted == resource_kind::none) {
    map_and_prepare(self, job, order.request, nullptr);
    return;
  }
  job.pending = 1;
  const auto request =
    std::make_shared<spawn_request>(std::move(order.request));
  count_objects_of_nodes(self, counted,
                         [self, nspace, request](const object_counts& objects) {
                           auto* job = self->state.find_job(nspace);
                           if (job == nullptr || job->reporting)
                             return; // It was ended meanwhile.
                           job->pending = 0;
                           map_and_prepare(self, *job, *request, &objects);
                         });
}

void end_processes(self_pointer self, const std::string& nspace,
                   int32_t signal) {
  auto* job = self->state.find_job(nspace);
  if (job == nullptr || job->reporting)
    return;
  job->ending = true;
  end_connected(self, count_held(*job));
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

} // namespace troupe::mesh_internals
