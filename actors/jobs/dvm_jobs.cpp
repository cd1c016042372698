#include "actors/jobs/dvm_jobs.hpp"

#include "actors/events/event_askers.hpp"
#include "actors/events/process_events.hpp"
#include "actors/jobs/debugger_daemons.hpp"
#include "actors/jobs/job_plan.hpp"
#include "actors/jobs/number_list.hpp"
#include "actors/jobs/placement.hpp"
#include "base/all_of.hpp"
#include "base/make_info.hpp"
#include "base/may_act_for.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"
#include "messages/mesh_payload.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace troupe {

namespace {

constexpr uint32_t root = 0;

/// How long the exits of one node wait for what the others say: those may have
/// to wait themselves for the end of a process that lost its connection.
constexpr auto inquiry_wait = 2 * defaults::lost_connection_wait;

/// How often to look whether a limit of a job is still one.
constexpr auto limit_look = std::chrono::seconds{10};

constexpr std::string_view objects_key = "troupe.objects";

constexpr resource_kind kinds[] = {
  resource_kind::hwthread, resource_kind::core, resource_kind::l1,
  resource_kind::l2,       resource_kind::l3,   resource_kind::numa,
  resource_kind::package,
};

template <class T>
using completion = dvm_jobs::completion<T>;

/// Turns the answer of a node into what was asked for.
template <class T>
completion<host_reply> reply_to(completion<T> then) {
  return [then = std::move(then)](caf::expected<host_reply> x) {
    if (!x)
      then(std::move(x.error()));
    else if (auto* y = std::get_if<T>(&*x))
      then(std::move(*y));
    else
      then(make_error(status::error, "the node answered something else"));
  };
}

void ignore(const caf::expected<host_reply>&) {
  // Who is lost needs to know nothing.
}

caf::error unknown_job(const std::string& nspace) {
  return make_error(status::not_found,
                    "no job " + nspace + "; troupe jobs lists those there are");
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

/// Only launchers show where processes go.
caf::error refuse_display(const spawn_request& request, bool has_launcher) {
  auto infos = request.job_infos;
  // Launchers give a job's directives with its first program, too.
  if (!request.apps.empty())
    infos.insert(infos.end(), request.apps.front().infos.begin(),
                 request.apps.front().infos.end());
  for (const auto& x : infos)
    if ((x.flags & info_required) != 0 && !has_launcher
        && (x.key == attr::display_map || x.key == attr::report_bindings))
      return make_error(status::not_supported,
                        std::string{attribute_of(x.key)->c_name}
                          + " is required, but no launcher of ours shows this "
                            "job; ask for PMIX_QUERY_PROC_TABLE");
  return {};
}

all_of<std::monostate> when_all(std::function<void()> then) {
  return {{}, [then = std::move(then)](std::monostate) { then(); }};
}

bool contains(const std::vector<std::string>& xs, const std::string& x) {
  return std::find(xs.begin(), xs.end(), x) != xs.end();
}

} // namespace

dvm_jobs::dvm_jobs(settings config, dvm_nodes nodes, job_locations& places,
                   effects out)
  : config_(std::move(config)), nodes_(std::move(nodes)), places_(places),
    out_(std::move(out)), sets_(config_.nspace),
    control_(std::make_unique<job_controller>(means_of_control())) {
  checkpoints_.join(*control_);
  if (const auto kept = std::exchange(config_.checkpoints, {}); !kept.empty())
    if (const auto why = checkpoints_.restore(kept); why && config_.log)
      config_.log(severity::warning,
                  "kept checkpoints are not used: " + reason_of(why));
  control_->take_declarations(
    [this](const requester& who, const control_directives& what) {
      return checkpoints_.declare(who, what, find(who.proc.nspace) != nullptr);
    });
}

void dvm_jobs::ask_each(const std::vector<uint32_t>& nodes,
                        const host_question& what, std::function<void()> then) {
  auto all = when_all(std::move(then));
  for (const auto node : nodes) {
    all.add();
    // A node that is lost has nobody who could ask.
    out_.ask(node, what,
             [all](const caf::expected<host_reply>&) { all.done(); });
  }
  all.done();
}

// -- the start

std::map<uint32_t, uint32_t> dvm_jobs::used() const {
  auto result = std::map<uint32_t, uint32_t>{};
  for (const auto& [nspace, job] : all_)
    for (const auto& x : job.procs)
      if (!x.has_ended())
        ++result[x.node];
  return result;
}

/// @param objects How many each node has; null: they do not matter. Who has not
///                told takes no process.
std::vector<mapping_node>
dvm_jobs::mapping_nodes(const object_counts* objects) const {
  auto in_use = used();
  auto result = std::vector<mapping_node>{};
  for (const auto& [rank, node] : nodes_.all()) {
    if (!node.takes_work())
      continue;
    auto& x = result.emplace_back();
    x = {rank, node.name, *node.slots, in_use[rank], node.max_slots, 1};
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

void dvm_jobs::begin(job_order order) {
  if (!out_.can_serve() || is_closing_) {
    order.reply(
      !out_.can_serve()
        ? make_error(status::init, "the host has no server to serve the job")
        : make_error(status::not_available,
                     "the DVM is ending; start another one"));
    return;
  }
  const auto nspace = next_nspace();
  auto& job = all_[nspace];
  job.map.nspace = nspace;
  job.map.number = next_job_++;
  job.parent = std::move(order.who);
  job.origin = order.origin;
  job.observer = std::move(order.observer);
  job.reply = std::move(order.reply);
  job.outcome = job_outcome{nspace};
  if (auto why = put_beside_target(job.parent, order.request)) {
    give_up(job, why);
    return;
  }
  auto options = read_options(order.request);
  if (!options) {
    give_up(job, options.error());
    return;
  }
  job.options = std::move(*options);
  job.options.oversubscribe |=
    order.oversubscribe && !job.options.never_oversubscribe;
  job.oversubscribe = job.options.oversubscribe;
  if (auto why = refuse_display(order.request, job.observer != nullptr)) {
    give_up(job, why);
    return;
  }
  limit_start(nspace, job.options.spawn_timeout);
  auto size = uint64_t{0};
  for (const auto& x : order.request.apps)
    size += static_cast<uint64_t>(std::max(0, x.max_procs));
  settle(job.options,
         static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX)));
  const auto counted = counted_objects(job.options);
  if (counted == resource_kind::none) {
    map(job, order.request, nullptr);
    return;
  }
  job.pending = 1;
  const auto request =
    std::make_shared<spawn_request>(std::move(order.request));
  count_objects(counted, [this, nspace, request](const object_counts& found) {
    auto* job = find(nspace);
    if (job == nullptr || job->reporting)
      return; // It was ended meanwhile.
    job->pending = 0;
    map(*job, *request, &found);
  });
}

/// Puts daemons of a debugger where their target runs; leaves other jobs alone.
/// @param who Asks for them, and has to be the target's user.
caf::error dvm_jobs::put_beside_target(const requester& who,
                                       spawn_request& request) const {
  const auto daemons = read_debugger_daemons(request);
  if (!daemons)
    return daemons.error();
  if (!*daemons)
    return {};
  const auto* target = find((*daemons)->target.nspace);
  if (target == nullptr)
    return unknown_job((*daemons)->target.nspace);
  if (!may_control(*target, who))
    return make_error(status::no_permissions,
                      "job " + target->map.nspace
                        + " is another user's; ask as that user");
  return put_beside(**daemons, target->map, request);
}

/// Source: PMIx Standard v5, PMIX_SPAWN_TIMEOUT.
void dvm_jobs::limit_start(const std::string& nspace,
                           const std::optional<caf::timespan>& limit) {
  if (!limit)
    return;
  const auto starts = [this, nspace] {
    const auto* job = find(nspace);
    return job != nullptr && job->reply != nullptr && !job->ending;
  };
  call_at(out_.now() + *limit, starts, [this, nspace] {
    give_up(*find(nspace),
            make_error(status::timeout,
                       "the job did not start within its "
                       "time-out (PMIX_SPAWN_TIMEOUT); give it more"));
  });
}

/// Calls `then` at a time, if it is wanted until then. Looks whether it is now and
/// then: of a job that has started or is over nothing is kept for the hours that
/// its limit may have.
void dvm_jobs::call_at(time when, std::function<bool()> is_wanted,
                       std::function<void()> then) {
  const auto left = std::max(when - out_.now(), time{0});
  out_.call_later(
    std::min(left, time{limit_look}),
    [this, when, is_wanted = std::move(is_wanted), then = std::move(then)] {
      if (!is_wanted())
        return;
      if (out_.now() >= when)
        then();
      else
        call_at(when, is_wanted, then);
    });
}

/// Has all nodes that take work count the objects of a kind of theirs.
/// @param then Gets the counts by rank; who does not answer is missing.
void dvm_jobs::count_objects(resource_kind kind,
                             std::function<void(const object_counts&)> then) {
  auto all = all_of<object_counts>{{}, std::move(then)};
  auto question = query_request{};
  question.queries.emplace_back().keys = {std::string{objects_key}};
  for (const auto& [rank, node] : nodes_.all()) {
    if (!node.takes_work())
      continue;
    all.add();
    out_.ask(rank, ask_root{{}, question},
             reply_to<info_result>([all, kind, rank = rank](
                                     const caf::expected<info_result>& x) {
               const auto objects =
                 x ? number<uint32_t>(x->infos, to_string(kind)) : std::nullopt;
               if (objects)
                 (*all)[rank] = *objects;
               all.done();
             }));
  }
  all.done();
}

void dvm_jobs::map(job_record& job, spawn_request& request,
                   const object_counts* objects) {
  auto nodes = mapping_nodes(objects);
  if (job.options.no_local)
    nodes.erase(std::remove_if(
                  nodes.begin(), nodes.end(),
                  [&](const mapping_node& x) { return x.rank == job.origin; }),
                nodes.end());
  auto shares = map_job(request, job.options, nodes);
  if (!shares) {
    give_up(job, shares.error());
    return;
  }
  job.place(std::move(*shares), request);
  // Now it is known how many there are.
  settle(job.options, static_cast<uint32_t>(job.procs.size()));
  auto app_of = std::vector<uint32_t>{};
  for (const auto& x : job.procs)
    app_of.push_back(x.app);
  auto sets = sets_.define_of_job(job.map.nspace, request.apps, app_of);
  if (!sets) {
    give_up(job, sets.error());
    return;
  }
  job.sets = std::move(*sets);
  job.record(request, nodes_);
  places_.add(job.map);
  prepare(job, request);
}

/// Nodes of a job that have more processes than slots or processors, those of
/// other jobs counted. Source: PMIx Standard v5, PMIX_NODE_OVERSUBSCRIBED.
std::vector<uint32_t> dvm_jobs::oversubscribed(const job_record& job) const {
  auto result = std::vector<uint32_t>{};
  for (const auto& x : mapping_nodes(nullptr)) {
    const auto processors = nodes_.at(x.rank).processors;
    const auto is_over =
      x.used > x.slots || (processors > 0 && x.used > processors);
    if (is_over && job.shares.count(x.rank) > 0)
      result.push_back(x.rank);
  }
  return result;
}

void dvm_jobs::prepare(job_record& job, spawn_request& request) {
  const auto nspace = job.map.nspace;
  auto order = prepare_share{};
  order.map.nspace = nspace;
  order.map.number = job.map.number;
  order.packed_map = pack_map(job.map);
  order.request = std::move(request);
  mark_oversubscribed(order.request, oversubscribed(job));
  order.parent = job.parent;
  order.origin = job.origin;
  order.universe = nodes_.slots();
  if (job.observer && *job.shares.rbegin() != root) {
    order.environment = config_.environment;
    order.working_directory = config_.working_directory;
  }
  order.watchers = out_.watchers(job, order.request);
  job.informed = job.shares;
  job.informed.insert(job.origin);
  for (const auto& x : order.watchers)
    job.informed.insert(x.node);
  const auto nodes = job.informed;
  job.pending = nodes.size();
  for (const auto node : nodes)
    out_.ask(node, order,
             reply_to<job_map>([this, nspace, node](caf::expected<job_map> x) {
               note_prepared(nspace, node, std::move(x));
             }));
}

void dvm_jobs::note_prepared(const std::string& nspace, uint32_t node,
                             caf::expected<job_map> what) {
  auto* job = find(nspace);
  if (job == nullptr || job->reporting)
    return;
  --job->pending;
  // Who only watches does not keep a job from starting.
  const auto takes_part = job->shares.count(node) > 0 || node == job->origin;
  if (!what && !job->ending && takes_part) {
    give_up(*job, blame(*job, node, what.error()));
    return;
  }
  if (what)
    job->bind(node, std::move(*what));
  if (job->ending)
    job->cancel();
  else if (job->pending == 0)
    start(*job);
}

void dvm_jobs::start(job_record& job) {
  const auto nspace = job.map.nspace;
  if (!job.sets.empty()) {
    tell_sets(std::exchange(job.sets, {}), [this, nspace] {
      auto* job = find(nspace);
      if (job == nullptr || job->reporting)
        return;
      if (job->ending)
        job->cancel();
      else
        start(*job);
    });
    return;
  }
  const auto mapped = job.mapped(nodes_);
  if (job.observer)
    job.observer(mapped);
  if (job.options.is_dry) {
    job.outcome.end(job.observer ? std::string{} : describe_map(mapped), 0);
    job.started.nspace = nspace;
    job.answer(std::move(job.started));
    end_processes(nspace, SIGKILL);
    return;
  }
  if (job.options.timeout)
    call_at(
      out_.now() + *job.options.timeout,
      [this, nspace] { return find(nspace) != nullptr; },
      [this, nspace] {
        find(nspace)->outcome.end("the job ran longer than its time-out", 124);
        end_processes(nspace, SIGTERM);
      });
  const auto nodes = job.shares;
  job.pending = nodes.size();
  for (const auto node : nodes)
    out_.ask(node, start_share{nspace},
             reply_to<spawn_result>(
               [this, nspace, node](caf::expected<spawn_result> x) {
                 note_started(nspace, node, std::move(x));
               }));
}

void dvm_jobs::note_started(const std::string& nspace, uint32_t node,
                            caf::expected<spawn_result> what) {
  auto* job = find(nspace);
  if (job == nullptr || job->reporting)
    return;
  --job->pending;
  if (!what) {
    // Once the job is being ended, that is why.
    if (!job->ending)
      give_up(*job, blame(*job, node, what.error()));
    else
      job->cancel();
    check_over(nspace);
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
  tell_of_job(*job, status::launch_complete);
  job->answer(std::move(job->started));
  check_over(nspace);
}

/// Gives up a job that could not be started, whatever of it runs already.
void dvm_jobs::give_up(job_record& job, const caf::error& why) {
  const auto exit_status = exit_status_of_refusal(status_of(why));
  // A process that asked for a job hears why it has none; what that means is
  // its own affair.
  const auto is_spawned = job.parent.role == peer_role::client;
  job.outcome.end(reason_of(why), is_spawned ? 0 : exit_status);
  const auto nspace = job.map.nspace;
  job.answer(why);
  end_processes(nspace, SIGKILL);
}

/// Why a node did not do its part, with its name if there are others.
caf::error dvm_jobs::blame(const job_record& job, uint32_t node,
                           const caf::error& why) const {
  if (job.map.shares.size() < 2 && node == root)
    return why;
  return make_error(status_of(why),
                    "node " + nodes_.name_of(node) + ": " + reason_of(why));
}

// -- requests

void dvm_jobs::spawn(uint32_t from, requester& who, spawn_request& request,
                     completion<spawn_result> done) {
  auto order = job_order{};
  order.origin = from;
  // A job started by a process shares the output, the observer and the right to
  // oversubscribe of its parent.
  if (const auto* parent = find(who.proc.nspace)) {
    order.origin = parent->origin;
    order.observer = parent->observer;
    order.oversubscribe = parent->oversubscribe;
  }
  // What a launcher reads goes to the first process, as its users expect.
  const auto is_launcher = who.role == peer_role::launcher_needs_identity
                           || who.role == peer_role::launcher_with_identity;
  if (is_launcher
      && troupe::find(request.job_infos, attr::stdin_tgt) == nullptr)
    request.job_infos.push_back(make_info(attr::stdin_tgt, value::rank(0)));
  order.who = std::move(who);
  order.request = std::move(request);
  order.reply = std::move(done);
  begin(std::move(order));
}

caf::expected<ack> dvm_jobs::end(const end_job& request) {
  auto* job = find(request.nspace);
  if (job == nullptr)
    return unknown_job(request.nspace);
  job->outcome.end(request.reason, request.exit_status);
  // Asked twice: patience is over. The shares see to that.
  end_processes(request.nspace, request.signal);
  return ack{};
}

void dvm_jobs::end_all(const end_job& request, completion<ack> done) {
  is_closing_ = true;
  if (all_.empty()) {
    done(ack{});
    return;
  }
  closing_.push_back(std::move(done));
  auto names = std::vector<std::string>{};
  for (const auto& [nspace, job] : all_)
    names.push_back(nspace);
  for (const auto& nspace : names) {
    auto one = request;
    one.nspace = nspace;
    end(one);
  }
}

caf::expected<ack> dvm_jobs::abort(const requester& who,
                                   const abort_request& request) {
  const auto& nspace =
    request.procs.empty() ? who.proc.nspace : request.procs.front().nspace;
  auto* job = find(nspace);
  if (job == nullptr)
    return unknown_job(nspace);
  if (!may_act_for(who, job->parent.creds.uid))
    return make_error(status::no_permissions,
                      "job " + nspace + " is another user's; ask as that user");
  const auto whole = proc_id{nspace, rank_wildcard};
  const auto names_all =
    request.procs.empty()
    || std::find(request.procs.begin(), request.procs.end(), whole)
         != request.procs.end();
  const auto is_own = nspace == who.proc.nspace;
  job->outcome.abort(
    who.proc.rank, request.exit_status, request.message.value_or(""),
    is_own ? job->place_of(who.proc.rank, nodes_) : proc_place{});
  if (names_all) {
    // Whoever aborts its own job has failed.
    if (is_own && !job->ending)
      end_connected({who.proc});
    end_processes(nspace, SIGTERM);
    return ack{};
  }
  for (const auto& x : request.procs)
    if (x.nspace == nspace && x.rank < job->procs.size()
        && !job->procs[x.rank].has_ended())
      out_.ask(job->procs[x.rank].node, signal_process{x, SIGKILL}, ignore);
  return ack{};
}

bool dvm_jobs::is_foreign(uint32_t from, const proc_id& proc) const {
  const auto* job = find(proc.nspace);
  return job != nullptr
         && (proc.rank >= job->procs.size()
             || job->procs[proc.rank].node != from);
}

job_list dvm_jobs::list(const list_jobs& request) const {
  auto result = job_list{};
  for (const auto& [nspace, job] : all_)
    if (request.nspace.empty() || request.nspace == nspace)
      result.jobs.push_back(job.describe());
  return result;
}

// -- what becomes of it

/// What new states of processes come to.
struct dvm_jobs::noted_states {
  /// Who has failed in a way that ends the job.
  std::vector<proc_id> failed;

  /// Who has ended.
  std::vector<proc_ended> gone;

  /// Whose life is over, and who is started again; and how often each has been.
  std::vector<proc_ended> restarted;
  std::vector<uint32_t> restarts;
};

dvm_jobs::noted_states
dvm_jobs::note_states(job_record& job, uint32_t from,
                      const std::vector<proc_changed>& procs) {
  auto result = noted_states{};
  for (const auto& x : procs) {
    const auto change = job.note(from, x, nodes_);
    if (change.is_foreign && config_.log)
      config_.log(severity::error, "node " + nodes_.name_of(from)
                                     + " speaks for " + to_string(x.proc)
                                     + ", which is not its own: ignored");
    if (!change.is_news)
      continue;
    if (job.observer)
      job.observer(x);
    if (change.begins_job)
      tell_of_job(job, status::job_start);
    // What happens to a life is told after what has ended the one before.
    if (change.loses_connection || change.is_end)
      tell_restarts(job, x.proc.rank, UINT32_MAX);
    if (change.loses_connection)
      raise(make_lost_connection_event(x.proc), audience_of(job));
    if (change.is_restart)
      note_restart(job, x, result);
    if (!change.is_end)
      continue;
    result.gone.push_back({x.proc, x.state});
    if (change.completes_stop && !change.is_fatal && !job.ending)
      tell_of_stop(job, *change.completes_stop);
    if (!change.has_run)
      continue;
    tell_of_process(job, x, change.is_fatal);
    out_.proc_gone(x.proc);
    if (change.ends_job)
      result.failed.push_back(x.proc);
  }
  if (!result.gone.empty() && !job.ending)
    spread(job, from, result.gone);
  // Whoever asks a process for something because of the event must not get what
  // its former life has posted.
  for (size_t i = 0; i < result.restarted.size(); ++i) {
    const auto& x = result.restarted[i];
    spread(job, from, {x},
           [this, nspace = job.map.nspace, rank = x.proc.rank,
            number = result.restarts[i]] {
             if (auto* job = find(nspace))
               tell_restarts(*job, rank, number);
           });
  }
  return result;
}

/// A life of a process is over: what it published, or waits for, is dropped.
/// Others hear of it when all nodes have forgotten it, see `tell_restarts`.
void dvm_jobs::note_restart(job_record& job, const proc_changed& what,
                            noted_states& noted) {
  const auto& proc = job.procs[what.proc.rank];
  ++restarts_;
  job.untold.emplace(
    std::pair{what.proc.rank, proc.restarts},
    make_restart_event(what, proc.restarts, describe_end(what)));
  out_.proc_gone(what.proc);
  noted.restarted.push_back({what.proc, what.state});
  noted.restarts.push_back(proc.restarts);
}

/// Raises the events of the first restarts of a process that have not been told.
void dvm_jobs::tell_restarts(job_record& job, uint32_t rank, uint32_t up_to) {
  auto i = job.untold.lower_bound({rank, 0});
  while (i != job.untold.end() && i->first.first == rank
         && i->first.second <= up_to) {
    raise(std::move(i->second), audience_of(job));
    i = job.untold.erase(i);
  }
}

void dvm_jobs::note_progress(uint32_t from, const share_progress& what) {
  auto* job = find(what.nspace);
  if (job == nullptr)
    return;
  const auto noted = note_states(*job, from, what.procs);
  if (!noted.failed.empty()) {
    end_connected(noted.failed);
    end_processes(what.nspace, SIGTERM);
  } else if (!job->held.empty() && !job->inquires) {
    inquire(*job, from);
  }
  note_controlled(noted.restarted);
  note_controlled(noted.gone);
}

/// Whoever waits for the end of processes hears of it, and may go on: jobs may
/// end, or be over, when this returns.
void dvm_jobs::note_controlled(const std::vector<proc_ended>& gone) {
  auto procs = std::vector<proc_id>{};
  for (const auto& x : gone)
    procs.push_back(x.proc);
  if (procs.empty())
    return;
  checkpoints_.procs_ended(procs);
  control_->procs_ended(procs);
}

void dvm_jobs::change_member(const member_changed& what) {
  if (nodes_.change(what) && what.rank != root)
    lose_node(what.rank);
}

void dvm_jobs::lose_node(uint32_t node) {
  auto hit = std::vector<std::string>{};
  for (const auto& [nspace, job] : all_)
    if (!job.reporting && (job.shares.count(node) > 0 || job.origin == node))
      hit.push_back(nspace);
  for (const auto& nspace : hit) {
    auto* job = find(nspace);
    if (job == nullptr)
      continue;
    const auto changes = job->lost_with(node);
    const auto is_origin = job->origin == node;
    const auto was_starting = job->reply != nullptr;
    job->shares.erase(node);
    if (!job->ending && (!changes.empty() || is_origin))
      job->outcome.lose(nodes_.name_of(node), changes.size());
    const auto noted = note_states(*job, node, changes);
    job->informed.erase(node);
    const auto goes_on =
      job->options.recoverable && !is_origin && !was_starting;
    if (was_starting)
      job->answer(make_error(status::job_failed_to_launch,
                             "node " + nodes_.name_of(node)
                               + " was lost while the job started; troupe "
                                 "nodes lists those left, start it again"));
    if (!changes.empty())
      tell_of_node(*job, node);
    if (!job->ending && (is_origin || (!goes_on && !changes.empty()))) {
      end_connected(noted.failed);
      end_processes(nspace, SIGTERM);
    }
    check_over(nspace);
    note_controlled(noted.gone);
  }
  connected_.node_lost(node);
}

/// Asks the other nodes who runs there, and judges what was held when all have
/// answered; soon in any case.
/// @param from The node of the exits.
void dvm_jobs::inquire(job_record& job, uint32_t from) {
  const auto judge = [this, nspace = job.map.nspace, inquiry = job.inquiry] {
    judge_held(nspace, inquiry);
  };
  const auto questions = job.questions_except(from);
  job.inquires = true;
  out_.call_later(inquiry_wait, judge);
  auto all = when_all(judge);
  for (const auto& [node, question] : questions) {
    all.add();
    // A node has told how its processes ended before it answers; one that does
    // not answer is lost.
    out_.ask(node, question,
             [all](const caf::expected<host_reply>&) { all.done(); });
  }
  all.done();
}

/// What is known now has to do.
void dvm_jobs::judge_held(const std::string& nspace, uint64_t inquiry) {
  auto* job = find(nspace);
  if (job == nullptr || !job->inquires || job->inquiry != inquiry)
    return;
  const auto failed = job->count_held();
  if (failed.empty() || job->ending)
    return;
  end_connected(failed);
  end_processes(nspace, SIGTERM);
}

caf::expected<ack> dvm_jobs::note_connection(uint32_t from,
                                             connection_changed what) {
  const auto runs = [&](const proc_id& x) {
    const auto* job = find(x.nspace);
    return job != nullptr && job->runs_on(from, x.rank);
  };
  if (std::none_of(what.procs.begin(), what.procs.end(), runs))
    return make_error(status::no_permissions,
                      "node " + std::to_string(from)
                        + " runs none of the processes that it says have "
                        + (what.connected ? "connected" : "disconnected"));
  if (!what.connected)
    connected_.disconnect(std::move(what.procs), from);
  else if (!connected_.connect(std::move(what.procs), from))
    return make_error(status::out_of_resource,
                      "too many sets of processes are connected ("
                        + std::to_string(defaults::groups_per_namespace)
                        + " of one namespace); disconnect some");
  return ack{};
}

// -- the end

/// Tells all processes of a job to end.
void dvm_jobs::end_processes(const std::string& nspace, int32_t signal) {
  auto* job = find(nspace);
  if (job == nullptr || job->reporting)
    return;
  job->ending = true;
  end_connected(job->count_held());
  const auto nodes = job->shares;
  for (const auto node : nodes) {
    auto what = end_share{};
    what.how.nspace = nspace;
    what.how.signal = signal;
    out_.ask(node, std::move(what),
             reply_to<ack>([this, nspace, node](const caf::expected<ack>& x) {
               // It never had a share, or is no more.
               if (!x
                   && (status_of(x.error()) == status::not_found
                       || !out_.is_live(node)))
                 drop_share(nspace, node);
             }));
  }
  check_over(nspace);
}

/// Processes of one job have failed, which ends the job: so do those that they
/// are connected to, unless these are recoverable.
void dvm_jobs::end_connected(const std::vector<proc_id>& failed) {
  if (failed.empty() || connected_.size() == 0)
    return;
  const auto& nspace = failed.front().nspace;
  const auto* job = find(nspace);
  if (job == nullptr)
    return;
  const auto goes_on = [&](const std::string& other) {
    const auto* x = find(other);
    return x == nullptr || x->reporting || x->ending || x->options.recoverable;
  };
  auto told = std::set<std::string>{};
  auto ended = std::set<std::string>{};
  for (const auto& x : failed) {
    for (const auto& peer : connected_.peers_of(x))
      told.insert(peer.nspace);
    for (auto& other : connected_.ended_with(x, goes_on))
      ended.insert(std::move(other));
  }
  if (told.empty())
    return;
  told.insert(nspace);
  told.insert(ended.begin(), ended.end());
  const auto audience = std::vector<std::string>{told.begin(), told.end()};
  tell_of_failure(*job, audience);
  const auto outcome = job->outcome.report();
  for (const auto& other : ended) {
    auto& x = *find(other);
    tell_of_failure(x, audience);
    x.outcome.end("job " + nspace + ", to which it was connected, failed"
                    + (outcome.reason.empty() ? "" : ": " + outcome.reason),
                  outcome.exit_status != 0 ? outcome.exit_status : 1);
  }
  for (const auto& other : ended)
    end_processes(other, SIGTERM);
}

/// A share has ended, one way or another.
void dvm_jobs::drop_share(const std::string& nspace, uint32_t node) {
  auto* job = find(nspace);
  if (job == nullptr || job->shares.erase(node) == 0)
    return;
  const auto gone = job->end_share_of(node);
  if (!gone.empty() && !job->ending)
    spread(*job, node, gone);
  check_over(nspace);
  note_controlled(gone);
}

/// Reports the end of a job that has no share any more.
void dvm_jobs::check_over(const std::string& nspace) {
  auto* job = find(nspace);
  if (job == nullptr || job->reporting || !job->shares.empty())
    return;
  // A short job may be over before all nodes have said that it runs.
  if (job->reply != nullptr && job->pending > 0 && !job->ending)
    return;
  if (!job->held.empty()) {
    // All nodes have said how their processes ended.
    end_connected(job->count_held());
    check_over(nspace);
    return;
  }
  report_end(*job);
}

/// All shares have ended: lets the nodes forget the job, then reports.
void dvm_jobs::report_end(job_record& job) {
  while (!job.untold.empty())
    tell_restarts(job, job.untold.begin()->first.first, UINT32_MAX);
  job.reporting = true;
  job.cancel();
  auto nodes = std::vector<uint32_t>{};
  // Processes of this node may wait for some of it, too.
  job.informed.insert(root);
  for (const auto node : job.informed)
    if (out_.is_live(node))
      nodes.push_back(node);
  ask_each(nodes, forget_job{job.outcome.report()},
           [this, nspace = job.map.nspace] { close(nspace); });
}

/// The job is over everywhere and forgotten.
void dvm_jobs::close(const std::string& nspace) {
  auto node = all_.extract(nspace);
  if (node.empty())
    return;
  auto& job = node.mapped();
  tell_of_end(job);
  const auto report = job.outcome.report();
  ++jobs_ended_;
  if (report.exit_status != 0)
    ++jobs_failed_;
  if (job.observer)
    job.observer(report);
  checkpoints_.job_over(nspace);
  control_->job_over(nspace);
  places_.remove(nspace);
  out_.job_over(nspace);
  connected_.forget(nspace);
  for (auto& name : sets_.job_over(nspace))
    ask_each(out_.live(), delete_process_set{std::move(name)}, [] {
      // Nobody waits for it.
    });
  if (!all_.empty())
    return;
  for (auto& x : std::exchange(closing_, {}))
    x(ack{});
}

// -- who hears of it

void dvm_jobs::locate(uint32_t from, const std::string& nspace,
                      completion<job_map> done) {
  auto* job = find(nspace);
  // Who asks when all others are told of the end would not hear of it.
  if (job == nullptr || job->reporting) {
    done(unknown_job(nspace));
    return;
  }
  auto map = job->map;
  map.lost = places_.lost_of(nspace);
  done(std::move(map));
  inform(*job, from);
}

/// A node has heard of the job: from now on it hears who has ended.
void dvm_jobs::inform(job_record& job, uint32_t node) {
  if (!job.informed.insert(node).second)
    return;
  auto& waiting = job.gone[node].waiting;
  const auto ended = job.ended();
  waiting.insert(waiting.end(), ended.begin(), ended.end());
  tell_gone(job.map.nspace, node);
}

/// All nodes that have heard of the job, and those of its parent, will miss
/// these; and this one.
/// @param heard Called when all of them have heard of it, or are lost, unless the
///              job is over by then; null: nobody waits.
void dvm_jobs::spread(job_record& job, uint32_t from,
                      const std::vector<proc_ended>& gone,
                      const std::function<void()>& heard) {
  auto nodes = job.informed;
  nodes.insert(root);
  if (const auto* parent = find(job.parent.proc.nspace))
    nodes.insert(parent->shares.begin(), parent->shares.end());
  nodes.erase(from);
  const auto nspace = job.map.nspace;
  // An answer may come at once.
  auto all = when_all([heard] {
    if (heard)
      heard();
  });
  for (const auto node : nodes) {
    auto& queue = job.gone[node];
    queue.waiting.insert(queue.waiting.end(), gone.begin(), gone.end());
    if (heard) {
      all.add();
      queue.heard.push_back([all] { all.done(); });
    }
    tell_gone(nspace, node);
  }
  all.done();
}

void dvm_jobs::tell_gone(const std::string& nspace, uint32_t node) {
  auto* job = find(nspace);
  if (job == nullptr)
    return;
  auto& queue = job->gone[node];
  if (queue.is_telling || queue.waiting.empty())
    return;
  queue.is_telling = true;
  out_.ask(node, procs_gone{std::exchange(queue.waiting, {})},
           [this, nspace, node, heard = std::exchange(queue.heard, {})](
             const caf::expected<host_reply>&) {
             for (const auto& then : heard)
               then();
             if (auto* job = find(nspace)) {
               job->gone[node].is_telling = false;
               tell_gone(nspace, node);
             }
           });
}

/// The job, and the one that a process of it started: "process failure within
/// a related job". Source: RFC0002, "Description".
std::vector<std::string> dvm_jobs::audience_of(const job_record& job) const {
  auto result = std::vector<std::string>{};
  for (const auto& nspace : {job.map.nspace, job.parent.proc.nspace})
    if (find(nspace) != nullptr)
      result.push_back(nspace);
  return result;
}

/// Tells the processes of these jobs, and whoever asks.
/// @param told A tool that gets it otherwise; empty: nobody.
void dvm_jobs::raise(event what, std::vector<std::string> audience,
                     const std::string& told) {
  out_.raise(what, audience);
  if (!told.empty())
    audience.push_back(told);
  out_.raise_for_askers(make_copy_for_askers(std::move(what), audience));
}

/// A process has ended, of which those that are connected to it hear, too.
/// @param is_fatal Whether its job is ended for it: the event says so.
/// Source: PMIx Standard v5, PMIX_EVENT_TERMINATE_JOB.
void dvm_jobs::tell_of_process(const job_record& job, const proc_changed& what,
                               bool is_fatal) {
  auto x = make_end_event(what, job.ending, job.options.recoverable,
                          describe_end(what));
  if (!x)
    return;
  if (is_fatal)
    x->infos.push_back(
      make_info(attr::event_terminate_job, value::boolean(true)));
  const auto audience = audience_of(job);
  const auto peers = connected_.peers_of(what.proc);
  // A good end is none for those that it is still connected to.
  if (x->code == status::event_proc_terminated) {
    raise(*x, audience);
    out_.raise_for(make_unsynced_event(what), peers);
    return;
  }
  auto others = std::vector<proc_id>{};
  for (const auto& y : peers)
    if (!contains(audience, y.nspace))
      others.push_back(y);
  out_.raise(*x, audience);
  out_.raise_for(*x, others);
  for (const auto& nspace : audience)
    others.push_back({nspace, rank_wildcard});
  out_.raise_for_askers(make_copy_for_askers(std::move(*x), std::move(others)));
}

/// `job_start` or `launch_complete`.
void dvm_jobs::tell_of_job(const job_record& job, status code) {
  raise(make_job_event(code, job.map.nspace), audience_of(job));
}

/// Processes wait for a debugger: whoever asked for the job hears of it, and those
/// who ask for what happens to jobs.
/// Source: PMIx Standard v5, PMIX_READY_FOR_DEBUG.
void dvm_jobs::tell_of_stop(const job_record& job, stop_point place) {
  auto what = make_stop_event(job.map.nspace,
                              job.breakpoints[static_cast<size_t>(place)]);
  const auto& parent = job.parent.proc;
  if (!parent.nspace.empty())
    out_.notify(what, {parent}, [](const caf::expected<ack>&) {
      // Who is gone waits for nothing.
    });
  out_.raise_for_askers(
    make_copy_for_askers(std::move(what), std::vector<proc_id>{parent}));
}

/// A job is ended since one of its processes, or one that they are connected
/// to, has ended without disconnecting.
/// @param connected The other jobs that are concerned.
void dvm_jobs::tell_of_failure(const job_record& job,
                               const std::vector<std::string>& connected) {
  auto audience = audience_of(job);
  for (const auto& nspace : connected)
    if (!contains(audience, nspace))
      audience.push_back(nspace);
  raise(make_job_event(status::job_term_wo_sync, job.map.nspace),
        std::move(audience));
}

void dvm_jobs::tell_of_end(const job_record& job) {
  // A tool is told by the node that it is connected to.
  const auto& parent = job.parent.proc.nspace;
  auto jobs = audience_of(job);
  jobs.erase(std::remove(jobs.begin(), jobs.end(), job.map.nspace), jobs.end());
  raise(make_job_end_event(job.outcome.report()), std::move(jobs), parent);
}

/// A node that the job runs on is lost.
void dvm_jobs::tell_of_node(const job_record& job, uint32_t node) {
  // Not for those who ask: all who want it hear of any node.
  auto audience = audience_of(job);
  out_.raise(make_node_event(status::event_node_down, nodes_.name_of(node)),
             audience);
  // Others hear of it as of any node, and these need not twice.
  for (auto& nspace : audience)
    told_of_node_.insert(std::move(nspace));
}

// -- control

void dvm_jobs::control(uint32_t from, const requester& who,
                       const job_control_request& request,
                       completion<info_result> done) {
  control_->request(who, from, request,
                    [done = std::move(done)](control_result x) {
                      if (x.code == status::success)
                        done(info_result{x.describe()});
                      else
                        done(make_error(x.code, x.reason, x.describe()));
                    });
}

bool dvm_jobs::listens_to(status code) {
  return code == status::ready_for_debug || job_controller::listens_to(code);
}

void dvm_jobs::hear(const event& what) {
  if (job_controller::listens_to(what.code))
    control_->hear(what);
  if (what.code != status::ready_for_debug)
    return;
  auto* job = find(what.source.nspace);
  if (job == nullptr)
    return;
  if (const auto place = job->note_stopped(
        what.source.rank, text(what.infos, attr::breakpoint).value_or("")))
    tell_of_stop(*job, *place);
}

/// Whether a job of this name has been: they are numbered.
bool dvm_jobs::has_been(const std::string& nspace) const {
  const auto prefix = config_.nspace + "@";
  if (nspace.compare(0, prefix.size(), prefix) != 0)
    return false;
  const auto digits = nspace.substr(prefix.size());
  const auto is_number =
    !digits.empty() && digits.size() < 10
    && std::all_of(digits.begin(), digits.end(),
                   [](char c) { return c >= '0' && c <= '9'; });
  return is_number && std::stoul(digits) < next_job_;
}

/// Source: PMIx Standard v5, PMIX_JOB_CTRL_TERMINATE; OpenPMIx's tools end a
/// DVM like this.
caf::error dvm_jobs::halt(const requester& who) const {
  const auto owner = config_.owner.value_or(who.creds.uid);
  if (!may_act_for(who, owner))
    return make_error(status::no_permissions,
                      "this DVM is another user's: " + std::to_string(owner)
                        + " owns it, " + std::to_string(who.creds.uid)
                        + " asks; name yours by --dvm");
  if (!is_tool(who.role))
    return make_error(status::bad_param,
                      to_string(who.proc)
                        + " belongs to no job here: name the processes to end");
  if (!config_.on_terminate)
    return make_error(status::not_supported,
                      "this server cannot be ended; end whoever started it");
  config_.on_terminate();
  return caf::none;
}

control_means dvm_jobs::means_of_control() {
  auto out = control_means{};
  out.now = [this] { return out_.now(); };
  out.call_later = [this](time delay, std::function<void()> then) {
    out_.call_later(delay, std::move(then));
  };
  out.act = [this](uint32_t node, control_procs what,
                   completion<procs_controlled> then) {
    out_.ask(node, std::move(what),
             reply_to<procs_controlled>(std::move(then)));
  };
  out.end = [this](const end_job& how) { end(how); };
  out.halt = [this](const requester& who) { return halt(who); };
  out.define_set = [this](define_process_set what, completion<ack> then) {
    define_set(std::move(what), std::move(then));
  };
  out.lookup.job = [this](const std::string& nspace) {
    const auto* x = find(nspace);
    return x != nullptr && !x->reporting ? std::optional{x->controlled()}
                                         : std::nullopt;
  };
  out.lookup.set = [this](const std::string& name) {
    const auto* x = sets_.find(name);
    return x != nullptr ? std::optional{*x} : std::nullopt;
  };
  out.lookup.has_ended = [this](const std::string& nspace) {
    return has_been(nspace);
  };
  out.log = config_.log;
  // For checkpoints, preemption, restart and provision.
  out.raise = [this](const event& what, const std::vector<proc_id>& targets,
                     completion<ack> then) {
    out_.notify(what, targets, std::move(then));
  };
  out.record = [this](const std::string& nspace) {
    const auto* job = find(nspace);
    return job != nullptr ? job->recorded : nullptr;
  };
  out.connected = [this](const std::string& nspace) {
    const auto* job = find(nspace);
    return job != nullptr ? job->connected() : std::vector<proc_id>{};
  };
  out.spawn = [this](const requester& who, spawn_request what,
                     completion<spawn_result> then) {
    auto order = job_order{};
    order.who = who;
    order.request = std::move(what);
    order.origin = root;
    order.reply = std::move(then);
    begin(std::move(order));
  };
  out.has_hook = config_.has_hook;
  out.run_hook = [this](uint32_t node, run_site_hook what,
                        completion<site_hook_result> then) {
    run_hook(node, std::move(what), std::move(then));
  };
  out.restart_command = config_.restart_command;
  out.keep = config_.keep_checkpoints;
  out.is_administrator = [this](const requester& who) {
    return may_act_for(who, config_.owner.value_or(who.creds.uid));
  };
  return out;
}

/// Runs a hook of the site on a node: it learns for which process.
void dvm_jobs::run_hook(uint32_t node, run_site_hook what,
                        completion<site_hook_result> then) {
  const auto rank = what.proc.rank;
  if (const auto* job = find(what.proc.nspace);
      job != nullptr && rank < job->procs.size()) {
    what.environment.push_back(std::string{checkpoint_pid_variable} + "="
                               + std::to_string(job->procs[rank].pid));
    what.environment.push_back(std::string{checkpoint_rank_variable} + "="
                               + std::to_string(rank));
  }
  out_.ask(node, std::move(what), reply_to<site_hook_result>(std::move(then)));
}

/// Defines a set on all nodes.
void dvm_jobs::define_set(define_process_set what, completion<ack> then) {
  if (auto why = sets_.define(what)) {
    then(std::move(why));
    return;
  }
  ask_each(out_.live(), std::move(what),
           [then = std::move(then)] { then(ack{}); });
}

void dvm_jobs::tell_sets(std::vector<define_process_set> sets,
                         std::function<void()> then) {
  auto all = when_all(std::move(then));
  for (auto& x : sets) {
    all.add();
    ask_each(out_.live(), std::move(x), [all] { all.done(); });
  }
  all.done();
}

void dvm_jobs::tell_sets(uint32_t node) {
  for (auto& x : sets_.all())
    out_.ask(node, std::move(x), ignore);
}

// -- gauges

std::vector<gauge> dvm_jobs::gauges() const {
  auto procs = size_t{0};
  auto gone = size_t{0};
  auto alive = uint64_t{0};
  for (const auto& [nspace, x] : all_) {
    procs += x.procs.size();
    for (const auto& [node, queue] : x.gone)
      gone += queue.waiting.size();
  }
  for (const auto& [node, count] : used())
    alive += count;
  auto result =
    std::vector<gauge>{{"root.jobs", all_.size(), 0, "jobs"},
                       {"root.jobs_begun", next_job_ - 1, 0, "jobs"},
                       {"root.jobs_ended", jobs_ended_, 0, "jobs"},
                       {"root.jobs_failed", jobs_failed_, 0, "jobs"},
                       {"root.processes", procs, 0, "processes"},
                       {"root.processes_alive", alive, 0, "processes"},
                       {"root.restarts", restarts_, 0, "restarts"},
                       // A process ends once.
                       {"root.ends_to_tell", gone, 0, "processes"}};
  for (auto& x : control_->gauges())
    result.push_back(std::move(x));
  return result;
}

// -- objects of nodes

bool is_objects_question(const ask_root& what) {
  const auto* question = std::get_if<query_request>(&what.what);
  return question != nullptr && question->queries.size() == 1
         && question->queries.front().keys
              == std::vector<std::string>{std::string{objects_key}};
}

info_result count_objects(const node_topology& found) {
  auto result = info_result{};
  for (const auto kind : kinds)
    result.infos.push_back(
      {to_string(kind), 0, value::uint32(count_objects(found, kind))});
  return result;
}

} // namespace troupe
