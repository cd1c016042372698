#include "actors/jobs/job_plan.hpp"

#include "actors/data/job_data.hpp"
#include "actors/data/job_memory.hpp"
#include "actors/jobs/debugger_daemons.hpp"
#include "actors/jobs/number_list.hpp"
#include "actors/jobs/placement.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

void wire(start_process& x, const io_wiring& wiring) {
  x.with_stdin =
    wiring.stdin_target == rank_wildcard || wiring.stdin_target == x.proc.rank;
  x.merges_stderr = wiring.merge;
  x.with_stddiag = wiring.forward_stddiag.value_or(false);
  x.with_pty = wiring.with_pty;
  x.pty_rows = wiring.pty_rows;
  x.pty_columns = wiring.pty_columns;
}

/// A program's own directive goes first: clients of OpenPMIx give each program
/// their own directory if it has no other.
/// Source: PMIx Standard v5, PMIX_WDIR; PRRTE.
std::string working_directory(const spawn_request& request, const app& program,
                              const job_context& context) {
  if (const auto x = text(program.infos, attr::wdir); x && !x->empty())
    return *x;
  if (program.cwd && !program.cwd->empty())
    return *program.cwd;
  if (const auto x = text(request.job_infos, attr::wdir))
    return *x;
  return context.working_directory;
}

/// The number of a node, if an array of its data says that it is
/// oversubscribed.
std::optional<uint32_t> oversubscribed_node(const info& x) {
  if (x.key != attr::node_info_array)
    return std::nullopt;
  const auto infos = infos_of(x.val);
  if (!flag(infos, attr::node_oversubscribed))
    return std::nullopt;
  return number<uint32_t>(infos, attr::nodeid);
}

// -- what the processes of a job are told about it ----------------------------

std::string command_line(const app& program) {
  auto result = std::string{};
  for (const auto& x : program.argv)
    result += (result.empty() ? "" : " ") + x;
  return result.empty() ? program.cmd : result;
}

/// `0,1,2,...` as clients expect their peers.
std::string list_of_ranks(const node_share& share) {
  auto result = std::string{};
  for (const auto& x : share.procs)
    result += (result.empty() ? "" : ",") + std::to_string(x.rank);
  return result;
}

std::string list_of_nodes(const std::vector<node_share>& shares) {
  auto result = std::string{};
  for (const auto& x : shares)
    result += (result.empty() ? "" : ",") + x.hostname;
  return result;
}

/// Where the files of a job go. Open MPI makes the directory itself; it goes
/// with the session.
std::string job_directory(const job_map& map, const job_context& context) {
  return context.session_directory + "/job." + std::to_string(map.number);
}

/// Data that whoever asks for the job gives it. What the host says cannot be
/// overridden.
void add_preset(const spawn_request& request, bool restarts,
                std::vector<info>& to) {
  if (auto policy = job_policy(request.job_infos))
    to.push_back(std::move(*policy));
  // What the former life of a process has left in memory would mislead others.
  if (flag(request.job_infos, no_shared_memory_key) || restarts)
    to.push_back(make_info(no_shared_memory_key, value::boolean(true)));
  if (restarts)
    to.push_back(make_info(restarts_key, value::boolean(true)));
  const auto* preset = find(request.job_infos, preset_data);
  if (preset == nullptr)
    return;
  for (auto& x : infos_of(*preset))
    if (x.key.compare(0, 4, "pmix") != 0 || x.key == attr::job_ctrl_restart)
      to.push_back(std::move(x));
}

/// What processes are told that wait for a debugger. Whoever reads no ranks there
/// takes any value for all: true is understood by everybody.
/// Source: OpenPMIx 3.2 to 6.1; Open MPI 5.0, which wants a boolean.
void add_stops(const debug_stops& stops, std::vector<info>& to) {
  const auto add = [&](std::string_view key, std::optional<uint32_t> rank) {
    if (rank)
      to.push_back(make_info(key, *rank == rank_wildcard ? value::boolean(true)
                                                         : value::rank(*rank)));
  };
  add(attr::debug_stop_in_init, stops.in_init);
  add(attr::debug_stop_in_app, stops.in_app);
}

/// Clients take a node for oversubscribed if the key is there, whatever its
/// value.
info node_array(const node_share& share, bool oversubscribed) {
  const auto size = static_cast<uint32_t>(share.procs.size());
  auto infos = std::vector<info>{
    make_info(attr::hostname, value::string(share.hostname)),
    make_info(attr::nodeid, value::uint32(share.node)),
    make_info(attr::local_peers, value::string(list_of_ranks(share))),
    make_info(attr::local_size, value::uint32(size)),
    make_info(attr::node_size, value::uint32(size)),
    make_info(attr::localldr, value::rank(share.procs.front().rank))};
  if (oversubscribed)
    infos.push_back(make_info(attr::node_oversubscribed, value::boolean(true)));
  return make_info(attr::node_info_array, value::infos(std::move(infos)));
}

/// The job-level data. Source: OpenPMIx wire protocol, job info, the set that
/// Open MPI's own launcher sends.
std::vector<info> job_level(const job_map& map, const spawn_request& request,
                            const requester& parent, const job_options& options,
                            const job_context& context,
                            const node_topology& topology) {
  auto size = uint32_t{0};
  for (const auto& x : map.shares)
    size += static_cast<uint32_t>(x.procs.size());
  const auto universe = std::max(size, context.universe);
  auto result = std::vector<info>{
    make_info(attr::server_nspace, value::string(context.server.nspace)),
    make_info(attr::server_rank, value::rank(context.server.rank)),
    make_info(attr::jobid, value::string(map.nspace)),
    make_info(attr::nproc_offset, value::rank(0)),
    make_info(attr::num_nodes,
              value::uint32(static_cast<uint32_t>(map.shares.size()))),
    make_info(attr::job_size, value::uint32(size)),
    make_info(attr::job_num_apps,
              value::uint32(static_cast<uint32_t>(request.apps.size()))),
    make_info(attr::max_procs, value::uint32(size)),
    make_info(attr::univ_size, value::uint32(universe)),
    make_info(attr::mapby, value::string(mapping_of(options))),
    make_info(attr::rankby, value::string(ranking_of(options))),
    make_info(attr::bindto, value::string(to_string(options.bind_to))),
    make_info(attr::node_list, value::string(list_of_nodes(map.shares))),
    make_info(attr::rm_name, value::string("troupe")),
    make_info(attr::anl_map, value::string(process_mapping(map.shares))),
    make_info(
      attr::session_info_array,
      value::infos({make_info(attr::session_id, value::uint32(map.number)),
                    make_info(attr::univ_size, value::uint32(universe))})),
  };
  // This node first: it is meant where none is named.
  for (const auto& x : map.shares) {
    if (x.node != context.node)
      continue;
    const auto count = static_cast<uint32_t>(x.procs.size());
    result.push_back(
      make_info(attr::local_peers, value::string(list_of_ranks(x))));
    result.push_back(make_info(attr::local_size, value::uint32(count)));
    const auto oversubscribed = is_oversubscribed(request, x.node);
    if (oversubscribed)
      result.push_back(
        make_info(attr::node_oversubscribed, value::boolean(true)));
    result.push_back(node_array(x, oversubscribed));
  }
  for (const auto& x : map.shares)
    if (x.node != context.node)
      result.push_back(node_array(x, is_oversubscribed(request, x.node)));
  if (!topology.signature.empty())
    result.push_back(
      make_info(attr::topology_signature, value::string(topology.signature)));
  if (!context.session_directory.empty()) {
    result.push_back(
      make_info(attr::tmpdir, value::string(context.session_directory)));
    result.push_back(
      make_info(attr::nsdir, value::string(job_directory(map, context))));
    result.push_back(make_info(attr::tdir_rmclean, value::boolean(true)));
  }
  if (is_spawned(parent)) {
    result.push_back(make_info(attr::spawned, value::boolean(true)));
    result.push_back(make_info(attr::parent_id, value::of_proc(parent.proc)));
  }
  add_stops(options.stops, result);
  if (const auto target = debug_target_of(request)) {
    result.push_back(make_info(attr::debug_target, value::of_proc(*target)));
    result.push_back(make_info(attr::debug_job, value::string(target->nspace)));
  }
  add_preset(request, options.max_restarts.has_value(), result);
  return result;
}

/// Processes of one program, and what names they have as a set.
info app_array(uint32_t number, app_range range, const app& program,
               const std::string& nspace) {
  auto infos = std::vector<info>{
    make_info(attr::appnum, value::uint32(number)),
    make_info(attr::app_size, value::uint32(range.size)),
    make_info(attr::appldr, value::rank(range.first)),
    make_info(attr::app_argv, value::string(command_line(program)))};
  if (const auto set = text(program.infos, attr::pset_name)) {
    auto members = std::vector<proc_id>{};
    for (auto rank = range.first; rank < range.first + range.size; ++rank)
      members.push_back({nspace, rank});
    infos.push_back(make_info(attr::pset_name, value::string(*set)));
    infos.push_back(
      make_info(attr::pset_members, value::procs(std::move(members))));
  }
  return make_info(attr::app_info_array, value::infos(std::move(infos)));
}

/// The process set of each program; empty if none has one. Open MPI asks for
/// that of every process of the job, and gives up at the first without: those
/// have the empty name.
/// Source: Open MPI 5.0, MPI_Group_from_session_pset.
std::vector<std::string> sets_by_program(const spawn_request& request) {
  auto result = std::vector<std::string>{};
  auto has_any = false;
  for (const auto& x : request.apps) {
    auto name = text(x.infos, attr::pset_name);
    has_any |= name.has_value();
    result.push_back(name.value_or(""));
  }
  if (!has_any)
    result.clear();
  return result;
}

/// @param local Its place among the processes of its node.
info rank_array(const placed_proc& proc, uint16_t local,
                const node_share& share, app_range range, const job_map& map,
                const std::vector<std::string>& sets,
                const job_context& context, const node_topology& topology) {
  auto infos = std::vector<info>{
    make_info(attr::rank, value::rank(proc.rank)),
    make_info(attr::hostname, value::string(share.hostname)),
    make_info(attr::nodeid, value::uint32(share.node)),
    make_info(attr::appnum, value::uint32(proc.app)),
    make_info(attr::local_rank, value::uint16(local)),
    make_info(attr::node_rank, value::uint16(local)),
    make_info(attr::global_rank, value::rank(proc.rank)),
    make_info(attr::app_rank, value::rank(proc.rank - range.first)),
    make_info(attr::reincarnation, value::uint32(0)),
  };
  if (!sets.empty())
    infos.push_back(make_info(attr::pset_name, value::string(sets[proc.app])));
  if (share.node == context.node && !context.session_directory.empty())
    infos.push_back(
      make_info(attr::procdir, value::string(job_directory(map, context) + "/"
                                             + std::to_string(proc.rank))));
  if (share.node == context.node && !proc.cpus.empty()) {
    infos.push_back(
      make_info(attr::locality_string,
                value::string(locality_string(proc.cpus, topology))));
    infos.push_back(
      make_info(attr::cpuset, value::string(to_ranges(proc.cpus))));
  }
  return make_info(attr::proc_data, value::infos(std::move(infos)));
}

using environment = std::map<std::string, std::string>;
using variable = std::pair<std::string, std::string>;

/// Splits `NAME=value`; the name is empty if there is none.
variable split_variable(const std::string& x) {
  const auto sign = x.find('=');
  if (sign == std::string::npos)
    return {};
  return {x.substr(0, sign), x.substr(sign + 1)};
}

template <class Names>
bool begins_with_one_of(const std::string& name, const Names& prefixes) {
  return std::any_of(
    std::begin(prefixes), std::end(prefixes),
    [&](std::string_view x) { return name.compare(0, x.size(), x) == 0; });
}

/// Variables by which a launcher marks its own processes.
bool is_mark(const std::string& name) {
  constexpr std::string_view prefixes[] = {"OMPI_COMM_WORLD_",
                                           "OMPI_MCA_orte_",
                                           "OMPI_MCA_ess",
                                           "OMPI_APP_CTX_",
                                           "OMPI_FILE_LOCATION",
                                           "OMPI_FIRST_RANKS",
                                           "OMPI_NUM_APP_CTX",
                                           "OMPI_UNIVERSE_SIZE",
                                           "ORTE_",
                                           "PRTE_",
                                           "PMI_",
                                           "MPI_LOCAL"};
  return begins_with_one_of(name, prefixes);
}

/// Variables by which a launcher advises its own processes, and users any.
bool is_advice(const std::string& name) {
  constexpr std::string_view prefixes[] = {"OMPI_MCA_mpi_oversubscribe",
                                           "OMPI_MCA_schizo",
                                           "MPIR_CVAR_POLLS_BEFORE_YIELD"};
  return begins_with_one_of(name, prefixes);
}

/// Whether these are variables of a process that a launcher has started: then
/// its advice there is no wish of the user. Open MPI hands the variables of the
/// parent that are its own to the jobs that it spawns.
bool are_of_a_process(const std::vector<std::string>& variables) {
  constexpr std::string_view ranks[] = {
    "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "TROUPE_RANK="};
  return std::any_of(variables.begin(), variables.end(), [&](const auto& x) {
    return begins_with_one_of(x, ranks);
  });
}

/// Adds variables, without those that `is_dropped`.
template <class Predicate>
void add(environment& env, const std::vector<std::string>& variables,
         Predicate is_dropped) {
  for (const auto& x : variables) {
    auto [name, val] = split_variable(x);
    if (!name.empty() && !is_dropped(name))
      env.insert_or_assign(std::move(name), std::move(val));
  }
}

/// Puts what is installed in a directory before everything else.
/// Source: PMIx Standard v5, PMIX_PREFIX.
void use_prefix(environment& env, const std::string& prefix) {
  const std::pair<const char*, const char*> folders[] = {
    {"PATH", "/bin"}, {"LD_LIBRARY_PATH", "/lib"}};
  for (const auto& [name, folder] : folders) {
    auto& variable = env[name];
    variable = prefix + folder + (variable.empty() ? "" : ":") + variable;
  }
}

/// Applies the changes that a spawn request asks for.
/// Source: PMIx Standard v5, "Environment variable attributes".
void change(environment& env, const std::vector<info>& infos) {
  if (const auto prefix = text(infos, attr::prefix); prefix && !prefix->empty())
    use_prefix(env, *prefix);
  for (const auto& x : infos) {
    if (x.key == attr::unset_envar) {
      if (const auto* name = x.val.text())
        env.erase(*name);
      continue;
    }
    const auto is_change = x.key == attr::set_envar || x.key == attr::add_envar
                           || x.key == attr::prepend_envar
                           || x.key == attr::append_envar;
    const auto* boxed = std::get_if<box<envar>>(&x.val.data);
    if (!is_change || boxed == nullptr || !(*boxed)->name
        || (*boxed)->name->empty())
      continue;
    const auto& change = **boxed;
    const auto val = change.val.value_or("");
    const auto separator = std::string(1, static_cast<char>(change.separator));
    auto& variable = env[*change.name];
    if (x.key == attr::set_envar)
      variable = val;
    else if (x.key == attr::add_envar)
      variable = variable.empty() ? val : variable;
    else if (x.key == attr::prepend_envar)
      variable = variable.empty() ? val : val + separator + variable;
    else
      variable = variable.empty() ? val : variable + separator + val;
  }
}

/// What Open MPI 4.1 needs to ask its PMIx server for its place in the job. Of
/// its framework `schizo` some modules look for signs of the resource managers
/// that they know, and one declares a process without such a sign to run alone;
/// `ompi` is the one that declares nothing.
/// Source: Open MPI 4.1, orte/mca/schizo.
void help_open_mpi(environment& env) {
  env.emplace("OMPI_MCA_schizo", "ompi");
}

/// Processes that have no processor of their own must not wait by spinning.
/// Source: Open MPI 4.1, whose launcher sets it; MPICH, control variables.
void advise_to_yield(environment& env) {
  env.emplace("OMPI_MCA_mpi_oversubscribe", "1");
  env.emplace("MPIR_CVAR_POLLS_BEFORE_YIELD", "1");
}

template <class T>
std::string joined(const std::vector<T>& numbers) {
  auto result = std::string{};
  for (const auto x : numbers)
    result += (result.empty() ? "" : " ") + std::to_string(x);
  return result;
}

} // namespace

void set_variables(std::vector<std::string>& env,
                   std::vector<std::string> variables) {
  const auto name_of = [](std::string_view x) {
    return x.substr(0, x.find('='));
  };
  // Each process of a job brings all that it inherits: once through that.
  auto names = std::vector<std::string_view>{};
  names.reserve(variables.size());
  for (const auto& x : variables)
    names.push_back(name_of(x));
  std::sort(names.begin(), names.end());
  const auto is_old = [&](std::string_view x) {
    const auto name = name_of(x);
    return name.size() < x.size()
           && std::binary_search(names.begin(), names.end(), name);
  };
  env.erase(std::remove_if(env.begin(), env.end(), is_old), env.end());
  // Of two the last holds, where it stands.
  const auto has_twins =
    std::adjacent_find(names.begin(), names.end()) != names.end();
  for (auto x = variables.begin(); x != variables.end(); ++x) {
    const auto is_set_again = [&](const std::string& y) {
      return name_of(y) == name_of(*x);
    };
    if (!has_twins || std::none_of(x + 1, variables.end(), is_set_again))
      env.push_back(std::move(*x));
  }
}

std::vector<app_range> app_ranges(const spawn_request& request) {
  auto result = std::vector<app_range>{};
  auto next = uint32_t{0};
  for (const auto& x : request.apps) {
    const auto size = static_cast<uint32_t>(x.max_procs);
    result.push_back({next, size});
    next += size;
  }
  return result;
}

bool is_spawned(const requester& parent) {
  return !parent.proc.nspace.empty() && parent.role == peer_role::client;
}

void mark_oversubscribed(spawn_request& request,
                         const std::vector<uint32_t>& nodes) {
  auto& infos = request.job_infos;
  infos.erase(std::remove_if(infos.begin(), infos.end(),
                             [](const auto& x) {
                               return oversubscribed_node(x).has_value();
                             }),
              infos.end());
  for (const auto node : nodes) {
    auto about = std::vector<info>{
      make_info(attr::nodeid, value::uint32(node)),
      make_info(attr::node_oversubscribed, value::boolean(true))};
    infos.push_back(
      make_info(attr::node_info_array, value::infos(std::move(about))));
  }
}

bool is_oversubscribed(const spawn_request& request, uint32_t node) {
  return std::any_of(
    request.job_infos.begin(), request.job_infos.end(),
    [&](const auto& x) { return oversubscribed_node(x) == node; });
}

caf::error bind_share(node_share& share, const job_options& options,
                      const node_topology& topology, std::set<uint32_t> taken) {
  auto local = local_share{{}, share.hostname, std::move(taken)};
  for (const auto& x : share.procs)
    local.ranks.push_back(x.rank);
  auto cpus = place(local, options, topology);
  if (!cpus)
    return std::move(cpus.error());
  for (size_t i = 0; i < share.procs.size(); ++i)
    share.procs[i].cpus = std::move((*cpus)[i]);
  return {};
}

job_plan plan_job(const job_map& map, const spawn_request& request,
                  const requester& parent, const job_options& options,
                  const job_context& context, const node_topology& topology) {
  auto plan = job_plan{};
  plan.registration.nspace = map.nspace;
  plan.registration.owner = parent.creds;
  plan.registration.infos =
    describe_job(map, request, parent, options, context, topology);
  const auto ranges = app_ranges(request);
  const auto size = ranges.back().first + ranges.back().size;
  const auto own =
    std::find_if(map.shares.begin(), map.shares.end(),
                 [&](const auto& x) { return x.node == context.node; });
  if (own == map.shares.end())
    return plan;
  auto environments = std::map<uint32_t, process_environment>{};
  auto place = process_place{};
  place.size = size;
  place.local_size = static_cast<uint32_t>(own->procs.size());
  place.node = static_cast<uint32_t>(own - map.shares.begin());
  place.num_nodes = static_cast<uint32_t>(map.shares.size());
  place.hostname = own->hostname;
  place.oversubscribed = is_oversubscribed(request, own->node);
  place.spawned = is_spawned(parent);
  for (const auto& proc : own->procs) {
    const auto& program = request.apps[proc.app];
    const auto& env =
      environments.try_emplace(proc.app, request, program, context)
        .first->second;
    place.proc = {map.nspace, proc.rank};
    place.app = proc.app;
    plan.registration.local_ranks.push_back(proc.rank);
    plan.processes.push_back(
      {place.proc, program.cmd, program.argv, env.of(place),
       working_directory(request, program, context), proc.cpus});
    ++place.local_rank;
    auto& added = plan.processes.back();
    if (added.argv.empty())
      added.argv.push_back(program.cmd);
    if (options.index_argv)
      added.argv.front() += "-" + std::to_string(proc.rank);
    wire(added, options.io);
    added.with_pmi1 = context.with_pmi1;
  }
  return plan;
}

std::string process_mapping(const std::vector<node_share>& shares) {
  // Ranks in a row on one node, then nodes in a row with as many each.
  auto homes = std::vector<std::pair<uint32_t, uint32_t>>{}; // rank, node
  for (uint32_t node = 0; node < shares.size(); ++node)
    for (const auto& x : shares[node].procs)
      homes.emplace_back(x.rank, node);
  std::sort(homes.begin(), homes.end());
  struct block {
    uint32_t node;
    uint32_t nodes;
    uint32_t procs;
  };
  auto rows = std::vector<block>{};
  for (const auto& [rank, node] : homes)
    if (!rows.empty() && rows.back().node == node)
      ++rows.back().procs;
    else
      rows.push_back({node, 1, 1});
  auto blocks = std::vector<block>{};
  for (const auto& x : rows)
    if (!blocks.empty() && blocks.back().procs == x.procs
        && blocks.back().node + blocks.back().nodes == x.node)
      ++blocks.back().nodes;
    else
      blocks.push_back(x);
  auto result = std::string{"(vector"};
  for (const auto& x : blocks)
    result += ",(" + std::to_string(x.node) + "," + std::to_string(x.nodes)
              + "," + std::to_string(x.procs) + ")";
  return result + ")";
}

std::vector<info> describe_job(const job_map& map, const spawn_request& request,
                               const requester& parent,
                               const job_options& options,
                               const job_context& context,
                               const node_topology& topology) {
  const auto ranges = app_ranges(request);
  auto result = job_level(map, request, parent, options, context, topology);
  for (uint32_t number = 0; number < ranges.size(); ++number)
    result.push_back(
      app_array(number, ranges[number], request.apps[number], map.nspace));
  const auto sets = sets_by_program(request);
  auto by_rank = std::map<uint32_t, info>{};
  for (const auto& share : map.shares)
    for (size_t i = 0; i < share.procs.size(); ++i) {
      const auto& x = share.procs[i];
      by_rank.emplace(x.rank,
                      rank_array(x, static_cast<uint16_t>(i), share,
                                 ranges[x.app], map, sets, context, topology));
    }
  for (auto& [rank, x] : by_rank)
    result.push_back(std::move(x));
  return result;
}

process_environment::process_environment(const spawn_request& request,
                                         const app& program,
                                         const job_context& context)
  : request_(request), program_(program), universe_(context.universe),
    with_pmi1_(context.with_pmi1) {
  const auto has_advice = are_of_a_process(context.environment);
  add(base_, context.environment, [&](const auto& name) {
    return is_mark(name) || (has_advice && is_advice(name));
  });
  change(base_, request.job_infos);
  const auto has_marks = are_of_a_process(program.env);
  add(base_, program.env, [&](const auto& name) {
    return has_marks && (is_mark(name) || is_advice(name));
  });
  change(base_, program.infos);
  help_open_mpi(base_);
}

std::vector<std::string>
process_environment::of(const process_place& place) const {
  auto sizes = std::vector<uint32_t>{};
  auto firsts = std::vector<uint32_t>{};
  for (const auto& x : app_ranges(request_)) {
    sizes.push_back(x.size);
    firsts.push_back(x.first);
  }
  auto env = base_;
  const auto say = [&](const char* name, std::string val) {
    env.insert_or_assign(name, std::move(val));
  };
  const auto number = [&](std::initializer_list<const char*> names,
                          uint32_t val) {
    for (const auto* name : names)
      say(name, std::to_string(val));
  };
  const auto rank = place.proc.rank;
  say("TROUPE_JOB", place.proc.nspace);
  say("TROUPE_HOSTNAME", place.hostname);
  number({"TROUPE_RANK", "OMPI_COMM_WORLD_RANK"}, rank);
  number({"TROUPE_SIZE", "OMPI_COMM_WORLD_SIZE"}, place.size);
  number({"TROUPE_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
          "OMPI_COMM_WORLD_NODE_RANK", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK"},
         place.local_rank);
  number({"TROUPE_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
          "PMIX_LOCAL_SIZE"},
         place.local_size);
  number({"TROUPE_NODE"}, place.node);
  number({"TROUPE_NUM_NODES"}, place.num_nodes);
  number({"TROUPE_APP"}, place.app);
  number({"TROUPE_OVERSUBSCRIBED"}, place.oversubscribed ? 1 : 0);
  number({"TROUPE_UNIVERSE_SIZE"}, std::max(universe_, place.size));
  // What MPI_INFO_ENV is made of. OMPI_UNIVERSE_SIZE is left out: by it mpirun
  // knows that it is inside a job of its own kind, and refuses to run.
  number({"OMPI_NUM_APP_CTX"}, static_cast<uint32_t>(sizes.size()));
  say("OMPI_APP_CTX_NUM_PROCS", joined(sizes));
  say("OMPI_FIRST_RANKS", joined(firsts));
  say("OMPI_COMMAND", program_.cmd);
  if (place.oversubscribed)
    advise_to_yield(env);
  if (with_pmi1_) {
    number({"PMI_FD"}, pmi1_descriptor);
    number({"PMI_RANK"}, rank);
    number({"PMI_SIZE"}, place.size);
    if (place.spawned)
      say("PMI_SPAWNED", "1");
  }
  auto result = std::vector<std::string>{};
  result.reserve(env.size());
  for (const auto& [name, val] : env)
    result.push_back(name + "=" + val);
  return result;
}

} // namespace troupe
