#include "actors/mesh/host/mesh_queries.hpp"

#include "actors/groups/group_report.hpp"
#include "actors/io/io_report.hpp"
#include "actors/jobs/number_list.hpp"
#include "actors/mesh/host/defaults.hpp"
#include "actors/mesh/host/log_desk.hpp"
#include "actors/mesh/host/mesh_report.hpp"
#include "actors/monitors/stack_taker.hpp"
#include "base/all_of.hpp"
#include "base/directives.hpp"
#include "base/make_info.hpp"
#include "base/report_values.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/io_keys.hpp"
#include "messages/memory_source.hpp"
#include "messages/monitor.hpp"
#include "messages/status.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace troupe {

namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

} // namespace

bool is_waits_question(const ask_root& what) {
  const auto* question = std::get_if<query_request>(&what.what);
  return question != nullptr && question->queries.size() == 1
         && question->queries.front().keys
              == std::vector<std::string>{std::string{node_waits_key}};
}

mesh_queries::mesh_queries(mesh_host_actor::pointer self,
                           const mesh_host_options& options,
                           const host_actors& actors, host_calls& calls,
                           const job_locations& places, dvm_jobs& jobs,
                           stream_spread& streams, effects out)
  : self_(self), options_(options), actors_(actors), calls_(calls),
    places_(places), jobs_(jobs), streams_(streams), out_(std::move(out)) {
  // nop
}

// -- this node --

void mesh_queries::describe_node(completion<mesh_status> done) {
  const auto all = all_of<mesh_status>{
    out_.describe_host(),
    [done = std::move(done)](mesh_status& x) { done(std::move(x)); }};
  // What stays of an actor that has ended is in no table of ours.
  all->gauges.push_back(
    {"daemon.actors", self_->home_system().registry().running(), 0, "actors"});
  const auto add = [all](gauge_list& found) {
    append(all->gauges, std::move(found.gauges));
    all.done();
  };
  const auto skip = [all](const caf::error&) { all.done(); };
  for (const auto name : gauge_sources)
    if (const auto x = self_->home_system().registry().get(name)) {
      all.add();
      self_
        ->request(caf::actor_cast<caf::actor>(x), defaults::net_wait,
                  get_gauges{})
        .then(add, skip);
    }
  if (actors_.node) {
    all.add();
    self_->request(actors_.node, defaults::net_wait, get_mesh_status{})
      .then(
        [all](mesh_status& found) {
          auto gauges = std::move(all->gauges);
          *all = std::move(found);
          append(all->gauges, std::move(gauges));
          all.done();
        },
        skip);
  }
  if (actors_.server) {
    all.add();
    all.add();
    self_->request(actors_.server, defaults::net_wait, get_gauges{})
      .then(add, skip);
    self_->request(actors_.events, defaults::net_wait, get_gauges{})
      .then(add, skip);
  }
  all.done();
}

void mesh_queries::list_groups_here(completion<group_list> done) {
  if (!actors_.server) {
    done(group_list{});
    return;
  }
  self_->request(actors_.server, defaults::net_wait, list_groups{})
    .then(answer_to<group_list>{done}, failure_to<group_list>{done});
}

void mesh_queries::list_waits_here(const ask_root& what,
                                   completion<info_result> done) {
  if (!actors_.server) {
    done(info_result{});
    return;
  }
  self_
    ->request(actors_.server, defaults::net_wait, what.who,
              std::get<query_request>(what.what))
    .then(answer_to<info_result>{done}, failure_to<info_result>{done});
}

void mesh_queries::count_objects_here(completion<info_result> done) {
  ask<node_topology>(
    self_, actors_.topology,
    [done = std::move(done)](const caf::expected<node_topology>& found) {
      if (found)
        done(count_objects(*found));
      else
        done(found.error());
    },
    discover_topology{});
}

// -- the jobs of the DVM, at the root --

namespace {

/// The keys of ours: each is answered by an array of infos named `item`, each
/// of which is an array of infos.
constexpr std::string_view nodes_key = "troupe.nodes";
constexpr std::string_view jobs_key = "troupe.jobs";
constexpr std::string_view procs_key = "troupe.ps";
constexpr std::string_view dvm_key = "troupe.dvm";

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

std::string names_of_jobs(const dvm_jobs& jobs) {
  auto result = std::string{};
  for (const auto& [nspace, job] : jobs.all())
    result += (result.empty() ? "" : ",") + nspace;
  return result;
}

/// What a spawn may be told of debuggers, by key: debuggers look for these.
/// Source: PMIx Standard v5, PMIX_QUERY_DEBUG_SUPPORT; PRRTE 4.1.
std::string debug_keys() {
  auto result = std::string{};
  for (const auto& x : all_directives())
    if (x.call == pmix_call::spawn && x.how == treatment::done
        && (x.key == attr::debugger_daemons
            || x.key.substr(0, 9) == "pmix.dbg."))
      result += (result.empty() ? "" : ",") + std::string{x.key};
  return result;
}

/// One array per job: its name, and what the root knows of it.
/// Source: PMIx Standard v5, PMIX_QUERY_NAMESPACE_INFO.
value namespace_infos(const dvm_jobs& jobs) {
  auto elements = std::vector<info>{};
  for (const auto& [nspace, job] : jobs.all()) {
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

value list_nodes(const dvm_jobs& jobs) {
  auto procs = jobs.used();
  auto items = std::vector<info>{};
  for (const auto& [rank, node] : jobs.nodes().all())
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

value list_all_jobs(const dvm_jobs& jobs) {
  auto items = std::vector<info>{};
  for (const auto& [nspace, job] : jobs.all())
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

value list_all_procs(const dvm_jobs& jobs) {
  auto items = std::vector<info>{};
  for (const auto& [nspace, job] : jobs.all()) {
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
        "item", value::infos(
                  {make_info("nspace", text(nspace)),
                   make_info("rank", value::uint32(rank)),
                   make_info("node", value::uint32(x.node)),
                   make_info("host", text(hosts[x.node])),
                   make_info("cpus", text(cpus[rank])),
                   make_info("pid", value::uint32(x.pid)),
                   make_info("state", text(name_of(x.state))),
                   make_info("connected",
                             value::boolean(x.state == proc_state::connected)),
                   make_info("exit", value::integer(x.exit_code)),
                   make_info("cmd", text(job.commands[x.app]))})));
    }
  }
  return value::infos(std::move(items));
}

value describe_dvm(const dvm_jobs& jobs, const std::string& name) {
  auto live = uint32_t{0};
  for (const auto& [rank, node] : jobs.nodes().all())
    live += node.state == node_state::live ? 1 : 0;
  const auto nodes = static_cast<uint32_t>(jobs.nodes().all().size());
  return value::infos({make_info("name", text(name)),
                       make_info("nodes", value::uint32(nodes)),
                       make_info("live", value::uint32(live)),
                       make_info("ready", value::boolean(live == nodes))});
}

/// Slots that no job uses.
uint32_t available_slots(const dvm_jobs& jobs) {
  auto used = jobs.used();
  auto result = uint32_t{0};
  for (const auto& [rank, node] : jobs.nodes().all())
    if (node.takes_work())
      result += *node.slots - std::min(*node.slots, used[rank]);
  return result;
}

} // namespace

info_result mesh_queries::answer_at_root(uint32_t from, const requester& who,
                                         const query_request& request) {
  auto result = info_result{};
  const auto add = [&](const std::string& key, value val) {
    result.infos.push_back({key, 0, std::move(val)});
  };
  for (const auto& x : request.queries) {
    const auto nspace =
      troupe::text(x.qualifiers, attr::nspace).value_or(who.proc.nspace);
    auto found = jobs_.list({nspace}).jobs;
    if (nspace.empty() || found.size() != 1)
      found.clear();
    for (const auto& key : x.keys) {
      if (key == control_key::status || key == attr::job_ctrl_id) {
        if (auto states = jobs_.controller().describe(
              who, troupe::text(x.qualifiers, attr::job_ctrl_id),
              flag(x.qualifiers, control_key::user)))
          add(key, std::move(*states));
      } else if (key == attr::job_ctrl_preemptible
                 || key == attr::job_ctrl_checkpoint_method) {
        const auto rank =
          number<uint32_t>(x.qualifiers, attr::rank).value_or(who.proc.rank);
        for (auto& y : jobs_.checkpoints().describe({nspace, rank}))
          if (y.key == key)
            result.infos.push_back(std::move(y));
      } else if (key == attr::query_job_status && !found.empty())
        add(key, status_value(found.front()));
      else if (key == attr::query_proc_table && !found.empty())
        add(key, proc_table(found.front(), std::nullopt));
      else if (key == attr::query_local_proc_table && !found.empty())
        add(key, proc_table(found.front(), jobs_.nodes().name_of(from)));
      else if (key == attr::query_spawn_support)
        add(key, text(names_of_done(pmix_call::spawn)));
      else if (key == attr::query_debug_support)
        add(key, text(debug_keys()));
      else if (key == attr::query_available_slots)
        add(key, value::uint32(available_slots(jobs_)));
      else if (key == attr::query_namespaces)
        add(key, text(names_of_jobs(jobs_)));
      else if (key == attr::query_namespace_info)
        add(key, namespace_infos(jobs_));
      else if (key == dvm_key)
        add(key, describe_dvm(jobs_, options_.server.nspace));
      else if (key == nodes_key)
        add(key, list_nodes(jobs_));
      else if (key == jobs_key)
        add(key, list_all_jobs(jobs_));
      else if (key == procs_key)
        add(key, list_all_procs(jobs_));
    }
  }
  return result;
}

// -- all nodes --

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

void mesh_queries::list_all_groups(
  std::function<void(std::vector<group_status>)> done) {
  using by_node = std::map<uint32_t, group_list>;
  const auto all =
    all_of<by_node>{{}, [done = std::move(done)](by_node& found) {
                      auto result = std::vector<group_status>{};
                      for (auto& [rank, x] : found)
                        append(result, std::move(x.groups));
                      done(std::move(result));
                    }};
  for (const auto rank : calls_.live()) {
    all.add();
    // A node that does not answer soon is left out.
    const auto note = [all, rank](caf::expected<group_list> x) {
      if (x)
        (*all)[rank] = std::move(*x);
      all.done();
    };
    if (rank == options_.rank)
      list_groups_here(note);
    else
      calls_.ask_for<group_list>(rank, list_groups{}, note,
                                 defaults::net_wait * 2);
  }
  all.done();
}

void mesh_queries::answer_of_groups(
  const requester& who, std::vector<query> what,
  std::function<void(std::vector<info>)> done) {
  list_all_groups([who, what = std::move(what),
                   done = std::move(done)](std::vector<group_status> found) {
    auto result = std::vector<info>{};
    const auto all = without_repeats(std::move(found));
    for (const auto& x : what)
      for (const auto& key : x.keys)
        if (auto y = group_answer(key, x.qualifiers, who, all))
          result.push_back({key, 0, std::move(*y)});
    done(std::move(result));
  });
}

void mesh_queries::answer_of_streams(
  const requester& who, const query& what,
  std::function<void(std::vector<info>)> done) {
  streams_.list_all(streams_wanted(who, what),
                    [done = std::move(done)](caf::expected<io_list> found) {
                      auto result = std::vector<info>{};
                      if (found)
                        result.push_back({std::string{io_streams_key}, 0,
                                          make_io_report(*found)});
                      done(std::move(result));
                    });
}

void mesh_queries::answer_of_waits(
  const requester& who, std::function<void(std::vector<info>)> done) {
  const auto finish = [this, done = std::move(done)](wait_list& found) {
    locate_all(found.jobs(), [this, done, found](const std::vector<proc_id>&) {
      done(found.report(places_));
    });
  };
  const auto all = all_of<wait_list>{{}, finish};
  auto question = query_request{};
  question.queries.emplace_back().keys.emplace_back(node_waits_key);
  for (const auto rank : calls_.live()) {
    all.add();
    calls_.ask_for<info_result>(
      rank, ask_root{who, question},
      [all, rank](caf::expected<info_result> x) {
        const auto* found = x ? find(x->infos, node_waits_key) : nullptr;
        // A node that does not answer soon is one of which nothing is known.
        if (found != nullptr)
          all->add(rank, read_wait_parts(*found));
        all.done();
      },
      defaults::net_wait * 2);
  }
  all.done();
}

void mesh_queries::describe_net(std::function<void(value)> done) {
  using by_node = std::map<uint32_t, value>;
  const auto all =
    all_of<by_node>{{}, [done = std::move(done)](by_node& reports) {
                      auto items = std::vector<value>{};
                      for (auto& [rank, x] : reports)
                        items.push_back(std::move(x));
                      done(report_list(std::move(items)));
                    }};
  for (const auto rank : calls_.live()) {
    all.add();
    const auto note = [all, rank](caf::expected<mesh_status> x) {
      (*all)[rank] =
        x ? net_report(*x) : silent_report(rank, reason_of(x.error()));
      all.done();
    };
    if (rank == options_.rank)
      describe_node(note);
    else
      calls_.ask_for<mesh_status>(rank, get_mesh_status{}, note,
                                  defaults::net_wait * 2);
  }
  all.done();
}

void mesh_queries::answer(const requester& who, query_request& request,
                          completion<info_result> done) {
  const auto all = all_of<info_result>{
    {}, [done = std::move(done)](info_result& x) {
      if (x.infos.empty())
        done(make_error(
          status::not_found,
          "none of the keys is known; ask for PMIX_QUERY_SUPPORTED_KEYS"));
      else
        done(std::move(x));
    }};
  const auto add = [all](std::vector<info> found) {
    append(all->infos, std::move(found));
    all.done();
  };
  if (take_key(request, net_key)) {
    all.add();
    describe_net([add](value x) {
      add({{std::string{net_key}, 0, std::move(x)}});
    });
  }
  auto of_groups = take_queries(
    request, [](const std::string& key) { return is_group_key(key); });
  if (!of_groups.empty()) {
    all.add();
    answer_of_groups(who, std::move(of_groups), add);
  }
  if (take_key(request, waits_key)) {
    all.add();
    answer_of_waits(who, add);
  }
  const auto of_logs = take_queries(
    request, [](const std::string& key) { return log_desk::knows(key); });
  if (!of_logs.empty()) {
    all.add();
    out_.answer_of_logs(who, of_logs, add);
  }
  const auto of_streams = take_queries(
    request, [](const std::string& key) { return key == io_streams_key; });
  for (const auto& x : of_streams) {
    all.add();
    answer_of_streams(who, x, add);
  }
  calls_.ask_root_for<info_result>(
    who, std::move(request), [add](caf::expected<info_result> x) {
      add(x ? std::move(x->infos) : std::vector<info>{});
    });
}

// -- the use of resources --

namespace {

std::vector<proc_id> targets_of(const monitor_request& request) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : request.directives)
    if (x.key == attr::monitor_target_procs)
      for (auto& proc : procs_of(x.val))
        result.push_back(std::move(proc));
  return result;
}

/// How long the node of a process, or another one, may take.
caf::timespan patience_with(const monitor_request& request) {
  if (request.monitor.key == stack_key)
    return defaults::stack_host_wait;
  return defaults::usage_host_wait;
}

bool is_of_usage(std::string_view key) {
  return key == attr::monitor_proc_resource_usage
         || key == attr::monitor_node_resource_usage
         || key == attr::monitor_disk_resource_usage
         || key == attr::monitor_net_resource_usage;
}

} // namespace

void mesh_queries::ask_nodes(const requester& who,
                             const monitor_request& request,
                             const std::vector<uint32_t>& nodes,
                             completion<info_result> done) {
  const auto all = all_of<info_result>{
    {}, [done = std::move(done)](info_result& x) { done(std::move(x)); }};
  for (const auto rank : nodes) {
    if (rank == options_.rank)
      continue;
    all.add();
    calls_.ask_for<info_result>(
      rank, sample_elsewhere{who, request},
      [all](caf::expected<info_result> x) {
        // A node that is lost, or too slow, is not there.
        if (!x)
          all->complete = false;
        else
          append(all->infos, std::move(x->infos));
        all.done();
      },
      defaults::usage_host_wait);
  }
  all.done();
}

/// Has all jobs located that are not known here, one after another.
/// @param then Gets what is known of `procs` in the end.
void mesh_queries::locate_all(std::vector<proc_id> procs,
                              std::function<void(std::vector<proc_id>)> then) {
  const auto unknown = places_.first_unknown(procs);
  if (!unknown) {
    then(std::move(procs));
    return;
  }
  calls_.locate(
    *unknown, [this, procs, nspace = *unknown, then](const caf::error&) {
      auto known = procs;
      if (!places_.knows(nspace))
        known.erase(
          std::remove_if(known.begin(), known.end(),
                         [&](const proc_id& x) { return x.nspace == nspace; }),
          known.end());
      locate_all(std::move(known), then);
    });
}

/// Has whichever node knows of it do what is asked.
void mesh_queries::ask_any_node(const requester& who,
                                const monitor_request& request,
                                caf::error otherwise,
                                completion<info_result> done) {
  using outcome = caf::expected<info_result>;
  const auto all = all_of<outcome>{
    outcome{std::move(otherwise)},
    [done = std::move(done)](outcome& x) { done(std::move(x)); }};
  for (const auto rank : calls_.live()) {
    if (rank == options_.rank)
      continue;
    all.add();
    calls_.ask_for<info_result>(
      rank, sample_elsewhere{who, request},
      [all](outcome x) {
        if (!*all && (x || status_of(x.error()) != status::not_found))
          *all = std::move(x);
        all.done();
      },
      defaults::usage_host_wait);
  }
  all.done();
}

/// Has the node of a process do what is asked. A tool is in no job: its
/// monitors are looked for on all nodes.
void mesh_queries::ask_node_of(const requester& who,
                               const monitor_request& request,
                               const proc_id& proc,
                               completion<info_result> done) {
  locate_all({proc}, [=](const std::vector<proc_id>& known) {
    const auto nodes = places_.nodes_of(known);
    if (nodes.size() != 1 || nodes.front() == options_.rank) {
      auto why = make_error(
        status::not_found,
        to_string(proc)
          + " does not run in this DVM; troupe ps lists those that do");
      if (nodes.empty() && request.monitor.key == attr::monitor_cancel)
        ask_any_node(who, request, std::move(why), done);
      else
        done(std::move(why));
      return;
    }
    calls_.ask_for<info_result>(nodes.front(), sample_elsewhere{who, request},
                                done, patience_with(request));
  });
}

void mesh_queries::sample_others(const requester& who,
                                 const monitor_request& request,
                                 completion<info_result> done) {
  const auto& key = request.monitor.key;
  auto procs = targets_of(request);
  const auto is_for_desk =
    key == monitor_kind_key || key == stack_key || key == attr::monitor_cancel;
  if (is_for_desk && procs.size() == 1) {
    ask_node_of(who, request, procs.front(), std::move(done));
    return;
  }
  if (!is_of_usage(key) && key != monitor_list_key) {
    done(make_error(status::not_supported,
                    "monitoring is not supported by this host; start the "
                    "server with monitors"));
    return;
  }
  // Without processes every node answers for itself.
  if (procs.empty()) {
    ask_nodes(who, request, calls_.live(), std::move(done));
    return;
  }
  locate_all(std::move(procs),
             [this, who, request, done](const std::vector<proc_id>& known) {
               ask_nodes(who, request, places_.nodes_of(known), done);
             });
}

void mesh_queries::sample_here(sample_elsewhere& request,
                               completion<info_result> done) {
  if (!actors_.usage) {
    done(
      make_error(status::not_supported,
                 options_.hostname + " does not sample the use of resources"));
    return;
  }
  const auto limit = patience_with(request.what);
  self_->request(actors_.usage, limit, std::move(request))
    .then(answer_to<info_result>{done}, failure_to<info_result>{done});
}

} // namespace troupe
