#include "actors/groups/group_report.hpp"
#include "actors/io/io_report.hpp"
#include "actors/io/stream_spread.hpp"
#include "actors/jobs/number_list.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "actors/mesh/mesh_report.hpp"
#include "actors/report_values.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/io_keys.hpp"
#include "messages/memory_source.hpp"
#include "messages/monitor.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

// Questions about the DVM, its nodes and what these use.

namespace troupe::mesh_internals {

// -- how nodes are connected, and how full what may grow is: each host knows it of
// its own node, and asks the others. Source: guarantees 5.9, LOAD-2.

namespace {

/// A status that waits for its parts.
struct status_parts {
  mesh_status result;
  size_t missing = 1;
  completion<mesh_status> done;

  void arrived() {
    if (--missing == 0)
      done(std::move(result));
  }

  void add(std::vector<gauge> x) {
    std::move(x.begin(), x.end(), std::back_inserter(result.gauges));
  }
};

std::vector<gauge> gauges_of(const mesh_host_state& state) {
  const auto limits = mesh_calls::limits{};
  auto result = std::vector<gauge>{
    {"host.calls", state.calls->open(),
     limits.open * state.calls->live().size(), "calls"},
    {"host.remembered_answers", state.calls->remembered(),
     limits.remembered * state.calls->live().size(), "answers"},
    {"host.collectives", state.collectives->open(), 0, "operations"},
    {"host.remembered_collectives", state.collectives->remembered(), 0,
     "operations"},
    {"host.gets", state.modex->open(), 0, "requests"},
    {"host.lookups", state.published_here.waiting(), defaults::waiting_lookups,
     "requests"},
    {"host.events", state.spread->waiting(), 0, "events"},
    {"host.unstable_events", state.sequencer->kept(), 0, "events"},
    {"host.group_logs", state.sequencer->logs(), 0, "groups"},
    {"host.groups_remembered", state.sequencer->closed_logs(),
     defaults::groups_remembered, "groups"},
    {"host.shares", state.shares.size(), 0, "jobs"},
    {"host.progress", state.share_rules->untold(), 0, "changes"}};
  if (state.is_root()) {
    result.push_back({"root.lookups", state.published.waiting(),
                      defaults::waiting_lookups, "requests"});
    auto more = state.jobs->gauges();
    std::move(more.begin(), more.end(), std::back_inserter(result));
  }
  return result;
}

/// The nodes that have answered, or have not.
struct survey {
  std::map<uint32_t, value> reports;
  size_t missing = 1;
  completion<value> done;

  void arrived() {
    if (--missing > 0)
      return;
    auto items = std::vector<value>{};
    for (auto& [rank, x] : reports)
      items.push_back(std::move(x));
    done(report_list(std::move(items)));
  }
};

} // namespace

void describe_node(self_pointer self, completion<mesh_status> done) {
  auto& state = self->state;
  auto x = std::make_shared<status_parts>();
  x->done = std::move(done);
  x->result.rank = state.options.rank;
  x->result.name = state.options.hostname;
  x->result.incarnation = state.options.incarnation;
  x->result.duty = state.duty;
  x->result.gauges = gauges_of(state);
  // What stays of an actor that has ended is in no table of ours.
  x->result.gauges.push_back(
    {"daemon.actors", self->home_system().registry().running(), 0, "actors"});
  const auto add = [x](gauge_list& found) {
    x->add(std::move(found.gauges));
    x->arrived();
  };
  const auto skip = [x](const caf::error&) { x->arrived(); };
  if (const auto memory = self->home_system().registry().get(memory_source)) {
    ++x->missing;
    self
      ->request(caf::actor_cast<caf::actor>(memory), defaults::net_wait,
                get_gauges{})
      .then(add, skip);
  }
  if (state.node) {
    ++x->missing;
    self->request(state.node, defaults::net_wait, get_mesh_status{})
      .then(
        [x](mesh_status& found) {
          auto gauges = std::move(x->result.gauges);
          x->result = std::move(found);
          x->add(std::move(gauges));
          x->arrived();
        },
        skip);
  }
  if (state.server) {
    x->missing += 2;
    self->request(state.server, defaults::net_wait, get_gauges{})
      .then(add, skip);
    self->request(state.events, defaults::net_wait, get_gauges{})
      .then(add, skip);
  }
  x->arrived();
}

// -- questions about the DVM, answered at the root

namespace {

/// The keys of ours: each is answered by an array of infos named `item`, each
/// of which is an array of infos.
constexpr std::string_view nodes_key = "troupe.nodes";
constexpr std::string_view jobs_key = "troupe.jobs";
constexpr std::string_view procs_key = "troupe.ps";
constexpr std::string_view dvm_key = "troupe.dvm";

constexpr auto spawn_support =
  "PMIX_WDIR,PMIX_MAPBY,PMIX_RANKBY,PMIX_BINDTO,PMIX_PPR,PMIX_HOST,"
  "PMIX_CPUS_PER_PROC,PMIX_CPU_LIST,PMIX_NO_OVERSUBSCRIBE,"
  "PMIX_NO_PROCS_ON_HEAD,PMIX_REPORT_BINDINGS,"
  "PMIX_STDIN_TGT,PMIX_FWD_STDOUT,PMIX_FWD_STDERR,PMIX_NOTIFY_COMPLETION,"
  "PMIX_JOB_TIMEOUT,PMIX_JOB_RECOVERABLE,PMIX_RUNTIME_OPTIONS,"
  "PMIX_SET_ENVAR,PMIX_UNSET_ENVAR,PMIX_ADD_ENVAR,"
  "PMIX_PREPEND_ENVAR,PMIX_APPEND_ENVAR";

info make_info(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

value text(std::string x) {
  return value::string(std::move(x));
}

std::string name_of(proc_state x) {
  switch (x) {
    case proc_state::prepped:
    case proc_state::launch_underway:
      return "starting";
    case proc_state::running:
    case proc_state::connected:
      return "running";
    case proc_state::terminated:
    case proc_state::term_non_zero:
      return "ended";
    case proc_state::comm_failed:
      return "lost";
    default:
      return "failed";
  }
}

value proc_table(const job_description& job,
                 const std::optional<std::string>& host) {
  auto elements = std::vector<value>{};
  for (const auto& x : job.procs)
    if (!host || x.hostname == host)
      elements.push_back({data_type::proc_info, box<proc_info>{x}});
  return value::array(data_type::proc_info, std::move(elements));
}

value status_value(const job_description& job) {
  const auto code = job.state == job_state::terminated_with_error
                      ? status::job_aborted
                      : status::success;
  return value::of_status(static_cast<int32_t>(code));
}

std::string names_of_jobs(const mesh_host_state& state) {
  auto result = std::string{};
  for (const auto& [nspace, job] : state.jobs->all())
    result += (result.empty() ? "" : ",") + nspace;
  return result;
}

/// One array per job: its name, and what the root knows of it.
/// Source: PMIx Standard v5, PMIX_QUERY_NAMESPACE_INFO.
value namespace_infos(const mesh_host_state& state) {
  auto elements = std::vector<info>{};
  for (const auto& [nspace, job] : state.jobs->all()) {
    auto nodes = std::string{};
    for (const auto& x : job.map.shares)
      nodes += (nodes.empty() ? "" : ",") + x.hostname;
    elements.push_back(make_info(
      attr::job_info_array,
      value::infos(
        {make_info(attr::nspace, text(nspace)),
         make_info(attr::jobid, text(nspace)),
         make_info(attr::job_size,
                   value::uint32(static_cast<uint32_t>(job.procs.size()))),
         make_info(attr::job_num_apps,
                   value::uint32(static_cast<uint32_t>(job.commands.size()))),
         make_info(attr::num_nodes,
                   value::uint32(static_cast<uint32_t>(job.map.shares.size()))),
         make_info(attr::node_list, text(nodes))})));
  }
  return value::infos(std::move(elements));
}

value list_nodes(const mesh_host_state& state) {
  auto procs = state.jobs->used();
  auto items = std::vector<info>{};
  for (const auto& [rank, node] : state.jobs->nodes().all())
    items.push_back(make_info(
      "item",
      value::infos({make_info("rank", value::uint32(rank)),
                    make_info("name", text(node.name)),
                    make_info("state", text(std::string{text_of(node.state)})),
                    make_info("incarnation", value::uint64(node.incarnation)),
                    make_info("slots", value::uint32(node.slots.value_or(0))),
                    make_info("procs", value::uint32(procs[rank]))})));
  return value::infos(std::move(items));
}

value list_all_jobs(const mesh_host_state& state) {
  auto items = std::vector<info>{};
  for (const auto& [nspace, job] : state.jobs->all())
    items.push_back(make_info(
      "item",
      value::infos(
        {make_info("nspace", text(nspace)),
         make_info("state", text(job.ending  ? "ending"
                                 : job.reply ? "starting"
                                             : "running")),
         make_info("cmd",
                   text(job.commands.empty() ? "" : job.commands.front())),
         make_info("procs",
                   value::uint32(static_cast<uint32_t>(job.procs.size()))),
         make_info("nodes", value::uint32(static_cast<uint32_t>(
                              job.map.shares.size())))})));
  return value::infos(std::move(items));
}

value list_all_procs(const mesh_host_state& state) {
  auto items = std::vector<info>{};
  for (const auto& [nspace, job] : state.jobs->all()) {
    auto hosts = std::map<uint32_t, std::string>{};
    auto cpus = std::map<uint32_t, std::string>{}; // by rank
    for (const auto& x : job.map.shares) {
      hosts[x.node] = x.hostname;
      for (const auto& proc : x.procs)
        cpus[proc.rank] = to_ranges(proc.cpus);
    }
    for (uint32_t rank = 0; rank < job.procs.size(); ++rank) {
      const auto& x = job.procs[rank];
      items.push_back(make_info(
        "item", value::infos({make_info("nspace", text(nspace)),
                              make_info("rank", value::uint32(rank)),
                              make_info("node", value::uint32(x.node)),
                              make_info("host", text(hosts[x.node])),
                              make_info("cpus", text(cpus[rank])),
                              make_info("pid", value::uint32(x.pid)),
                              make_info("state", text(name_of(x.state))),
                              make_info("exit", value::integer(x.exit_code)),
                              make_info("cmd", text(job.commands[x.app]))})));
    }
  }
  return value::infos(std::move(items));
}

value describe_dvm(const mesh_host_state& state) {
  auto live = uint32_t{0};
  for (const auto& [rank, node] : state.jobs->nodes().all())
    live += node.state == node_state::live ? 1 : 0;
  const auto nodes = static_cast<uint32_t>(state.jobs->nodes().all().size());
  return value::infos({make_info("name", text(state.options.server.nspace)),
                       make_info("nodes", value::uint32(nodes)),
                       make_info("live", value::uint32(live)),
                       make_info("ready", value::boolean(live == nodes))});
}

/// Slots that no job uses.
uint32_t available_slots(const mesh_host_state& state) {
  auto used = state.jobs->used();
  auto result = uint32_t{0};
  for (const auto& [rank, node] : state.jobs->nodes().all())
    if (node.takes_work())
      result += *node.slots - std::min(*node.slots, used[rank]);
  return result;
}

} // namespace

info_result answer_query(self_pointer self, uint32_t from, const requester& who,
                         const query_request& request) {
  const auto& state = self->state;
  auto result = info_result{};
  const auto add = [&](const std::string& key, value val) {
    result.infos.push_back({key, 0, std::move(val)});
  };
  for (const auto& x : request.queries) {
    const auto nspace =
      troupe::text(x.qualifiers, attr::nspace).value_or(who.proc.nspace);
    auto found = state.jobs->list({nspace}).jobs;
    if (nspace.empty() || found.size() != 1)
      found.clear();
    for (const auto& key : x.keys) {
      if (key == control_key::status || key == attr::job_ctrl_id) {
        if (auto states = state.jobs->controller().describe(
              who, troupe::text(x.qualifiers, attr::job_ctrl_id),
              flag(x.qualifiers, control_key::user)))
          add(key, std::move(*states));
      } else if (key == attr::job_ctrl_preemptible
                 || key == attr::job_ctrl_checkpoint_method) {
        const auto rank =
          number<uint32_t>(x.qualifiers, attr::rank).value_or(who.proc.rank);
        for (auto& y : state.jobs->checkpoints().describe({nspace, rank}))
          if (y.key == key)
            result.infos.push_back(std::move(y));
      } else if (key == attr::query_job_status && !found.empty())
        add(key, status_value(found.front()));
      else if (key == attr::query_proc_table && !found.empty())
        add(key, proc_table(found.front(), std::nullopt));
      else if (key == attr::query_local_proc_table && !found.empty())
        add(key, proc_table(found.front(), state.name_of(from)));
      else if (key == attr::query_spawn_support)
        add(key, text(spawn_support));
      else if (key == attr::query_debug_support)
        add(key, text(""));
      else if (key == attr::query_available_slots)
        add(key, value::uint32(available_slots(state)));
      else if (key == attr::query_namespaces)
        add(key, text(names_of_jobs(state)));
      else if (key == attr::query_namespace_info)
        add(key, namespace_infos(state));
      else if (key == dvm_key)
        add(key, describe_dvm(state));
      else if (key == nodes_key)
        add(key, list_nodes(state));
      else if (key == jobs_key)
        add(key, list_all_jobs(state));
      else if (key == procs_key)
        add(key, list_all_procs(state));
    }
  }
  return result;
}

namespace {

/// Takes keys out of a request, with their qualifiers.
template <class Predicate>
std::vector<query> take_queries(query_request& request, Predicate is_ours) {
  auto result = std::vector<query>{};
  for (auto& x : request.queries) {
    const auto first = std::stable_partition(
      x.keys.begin(), x.keys.end(),
      [&](const std::string& key) { return !is_ours(key); });
    if (first == x.keys.end())
      continue;
    result.push_back({{first, x.keys.end()}, x.qualifiers});
    x.keys.erase(first, x.keys.end());
  }
  return result;
}

std::vector<query> take_group_queries(query_request& request) {
  return take_queries(request,
                      [](const std::string& key) { return is_group_key(key); });
}

void answer_group_queries(self_pointer self, const requester& who,
                          std::vector<query> what,
                          std::function<void(std::vector<info>)> done) {
  list_all_groups(self, [who, what = std::move(what), done = std::move(done)](
                          caf::expected<group_list> found) {
    auto result = std::vector<info>{};
    if (found) {
      const auto all = without_repeats(std::move(found->groups));
      for (const auto& x : what)
        for (const auto& key : x.keys)
          if (auto y = group_answer(key, x.qualifiers, who, all))
            result.push_back({key, 0, std::move(*y)});
    }
    done(std::move(result));
  });
}

std::vector<query> take_stream_queries(query_request& request) {
  return take_queries(
    request, [](const std::string& key) { return key == io_streams_key; });
}

void answer_stream_query(self_pointer self, const requester& who,
                         const query& what,
                         std::function<void(std::vector<info>)> done) {
  auto request = list_io{};
  if (who.creds.uid != 0)
    request.uid = who.creds.uid;
  if (auto nspace = troupe::text(what.qualifiers, attr::nspace)) {
    const auto rank = number<uint32_t>(what.qualifiers, attr::rank);
    request.sources.push_back(
      {std::move(*nspace), rank.value_or(rank_wildcard)});
  }
  self->state.streams->list_all(
    request, [done = std::move(done)](caf::expected<io_list> found) {
      auto result = std::vector<info>{};
      if (found)
        result.push_back(
          {std::string{io_streams_key}, 0, make_io_report(*found)});
      done(std::move(result));
    });
}

void describe_net(self_pointer self, completion<value> done) {
  auto& state = self->state;
  auto all = std::make_shared<survey>();
  all->done = std::move(done);
  for (const auto rank : state.calls->live()) {
    ++all->missing;
    const auto note = [all, rank](caf::expected<mesh_status> x) {
      all->reports[rank] =
        x ? net_report(*x) : silent_report(rank, reason_of(x.error()));
      all->arrived();
    };
    if (rank == state.options.rank)
      describe_node(self, note);
    else
      state.calls->call(rank, get_mesh_status{}, reply_to<mesh_status>(note),
                        defaults::net_wait * 2);
  }
  arm(self);
  all->arrived();
}

/// A query on its way: to the NODE actor of this node, and to the root.
struct query_job {
  info_result result;
  size_t pending = 1;
  completion<info_result> done;

  void finish_one() {
    if (--pending > 0)
      return;
    if (result.infos.empty())
      done(make_error(status::not_found, "none of the keys is known"));
    else
      done(std::move(result));
  }
};

/// How nodes are connected: only their NODE actors know.
constexpr std::string_view net_key = "troupe.net";

/// Takes a key out of a request.
/// @returns whether it was there.
bool take_key(query_request& request, std::string_view key) {
  auto found = false;
  for (auto& x : request.queries) {
    const auto end = std::remove(x.keys.begin(), x.keys.end(), key);
    found |= end != x.keys.end();
    x.keys.erase(end, x.keys.end());
  }
  return found;
}

} // namespace

caf::result<info_result> answer_queries(self_pointer self, const requester& who,
                                        query_request& request) {
  return answer_later<info_result>(self, [&](completion<info_result> done) {
    auto job = std::make_shared<query_job>();
    job->done = std::move(done);
    if (take_key(request, net_key)) {
      ++job->pending;
      describe_net(self, [job](caf::expected<value> x) {
        if (x)
          job->result.infos.push_back({std::string{net_key}, 0, std::move(*x)});
        job->finish_one();
      });
    }
    const auto add = [job](std::vector<info> found) {
      std::move(found.begin(), found.end(),
                std::back_inserter(job->result.infos));
      job->finish_one();
    };
    if (auto of_groups = take_group_queries(request); !of_groups.empty()) {
      ++job->pending;
      answer_group_queries(self, who, std::move(of_groups), add);
    }
    for (const auto& of_streams : take_stream_queries(request)) {
      ++job->pending;
      answer_stream_query(self, who, of_streams, add);
    }
    ask(self, 0, ask_root{who, std::move(request)},
        reply_to<info_result>([job](caf::expected<info_result> x) {
          if (x)
            std::move(x->infos.begin(), x->infos.end(),
                      std::back_inserter(job->result.infos));
          job->finish_one();
        }));
  });
}

// -- the use of resources on other nodes, and their monitors of named kinds: each
// host passes what it is asked to whoever samples or monitors its node, and puts
// together what the others say.
// Source: OpenPMIx, "Process & Resource Statistics", where the host relays.

namespace {

/// Answers of nodes that are missing.
struct sample_parts {
  info_result result;
  size_t missing = 1;
  completion<info_result> done;

  void arrived() {
    if (--missing == 0)
      done(std::move(result));
  }
};

std::vector<proc_id> targets_of(const monitor_request& request) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : request.directives)
    if (x.key == attr::monitor_target_procs)
      for (auto& proc : procs_of(x.val))
        result.push_back(std::move(proc));
  return result;
}

void ask_nodes(self_pointer self, const requester& who,
               const monitor_request& request,
               const std::vector<uint32_t>& nodes,
               completion<info_result> done) {
  auto& state = self->state;
  auto all = std::make_shared<sample_parts>();
  all->done = std::move(done);
  for (const auto rank : nodes) {
    if (rank == state.options.rank)
      continue;
    ++all->missing;
    const auto note = [all](caf::expected<info_result> x) {
      // Who is lost, or too slow, is not there.
      if (!x)
        all->result.complete = false;
      else
        std::move(x->infos.begin(), x->infos.end(),
                  std::back_inserter(all->result.infos));
      all->arrived();
    };
    state.calls->call(rank, sample_elsewhere{who, request},
                      reply_to<info_result>(note), defaults::usage_host_wait);
  }
  arm(self);
  all->arrived();
}

/// Has all jobs located that are not known here, one after another.
/// @param then Gets what is known of `procs` in the end.
void locate_all(self_pointer self, std::vector<proc_id> procs,
                std::function<void(std::vector<proc_id>)> then) {
  const auto unknown = self->state.locations.first_unknown(procs);
  if (!unknown) {
    then(std::move(procs));
    return;
  }
  const auto next = [self, procs, nspace = *unknown, then](const caf::error&) {
    auto known = procs;
    if (!self->state.locations.knows(nspace))
      known.erase(
        std::remove_if(known.begin(), known.end(),
                       [&](const proc_id& x) { return x.nspace == nspace; }),
        known.end());
    locate_all(self, std::move(known), then);
  };
  locate(self, *unknown, next);
}

bool is_of_usage(std::string_view key) {
  return key == attr::monitor_proc_resource_usage
         || key == attr::monitor_node_resource_usage
         || key == attr::monitor_disk_resource_usage
         || key == attr::monitor_net_resource_usage;
}

/// Has the node of a process do what is asked.
void ask_node_of(self_pointer self, const requester& who,
                 const monitor_request& request, const proc_id& proc,
                 completion<info_result> done) {
  locate_all(self, {proc}, [=](const std::vector<proc_id>& known) {
    auto& state = self->state;
    const auto nodes = state.locations.nodes_of(known);
    if (nodes.size() != 1 || nodes.front() == state.options.rank) {
      done(make_error(status::not_found,
                      to_string(proc) + " does not run in this DVM"));
      return;
    }
    state.calls->call(nodes.front(), sample_elsewhere{who, request},
                      reply_to<info_result>(done), defaults::usage_host_wait);
    arm(self);
  });
}

} // namespace

void sample_others(self_pointer self, const requester& who,
                   const monitor_request& request,
                   completion<info_result> done) {
  const auto& key = request.monitor.key;
  auto procs = targets_of(request);
  const auto is_for_desk =
    key == monitor_kind_key || key == attr::monitor_cancel;
  if (is_for_desk && procs.size() == 1) {
    ask_node_of(self, who, request, procs.front(), std::move(done));
    return;
  }
  if (!is_of_usage(key) && key != monitor_list_key) {
    done(make_error(status::not_supported,
                    "monitoring is not supported by this host"));
    return;
  }
  // Without processes every node answers for itself.
  if (procs.empty()) {
    ask_nodes(self, who, request, self->state.calls->live(), std::move(done));
    return;
  }
  locate_all(self, std::move(procs),
             [self, who, request, done](const std::vector<proc_id>& known) {
               ask_nodes(self, who, request,
                         self->state.locations.nodes_of(known), done);
             });
}

void sample_here(self_pointer self, sample_elsewhere& request,
                 completion<info_result> done) {
  if (!self->state.usage) {
    done(make_error(status::not_supported,
                    self->state.options.hostname
                      + " does not sample the use of resources"));
    return;
  }
  self
    ->request(self->state.usage, defaults::usage_host_wait, std::move(request))
    .then([done](info_result& x) { done(std::move(x)); },
          [done](caf::error& err) { done(std::move(err)); });
}

} // namespace troupe::mesh_internals
