#include "actors/groups/group_report.hpp"
#include "actors/io/io_report.hpp"
#include "actors/jobs/number_list.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "actors/mesh/mesh_report.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

// Questions about the DVM, answered at the root.

namespace troupe::mesh_internals {

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

} // namespace

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
  list_all_io(self, std::move(request),
              [done = std::move(done)](caf::expected<io_list> found) {
                auto result = std::vector<info>{};
                if (found)
                  result.push_back(
                    {std::string{io_streams_key}, 0, make_io_report(*found)});
                done(std::move(result));
              });
}

} // namespace troupe::mesh_internals
