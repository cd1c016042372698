#include "actors/job_plan.hpp"

#include "actors/placement.hpp"
#include "messages/attributes.hpp"

#include <map>
#include <utility>

namespace troupe {

namespace {

using environment = std::map<std::string, std::string>;

info make_info(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

/// Splits `NAME=value`; the name is empty if there is none.
std::pair<std::string, std::string> split_variable(const std::string& x) {
  const auto sign = x.find('=');
  if (sign == std::string::npos)
    return {};
  return {x.substr(0, sign), x.substr(sign + 1)};
}

/// Variables by which another launcher marks its own processes.
bool belongs_to_other_launcher(const std::string& name) {
  constexpr std::string_view prefixes[] = {"OMPI_COMM_WORLD_",
                                           "OMPI_MCA_orte_",
                                           "OMPI_MCA_ess",
                                           "ORTE_",
                                           "PRTE_",
                                           "PMI_"};
  for (const auto prefix : prefixes)
    if (name.compare(0, prefix.size(), prefix) == 0)
      return true;
  return false;
}

/// Applies the changes that a spawn request asks for.
/// Source: PMIx Standard v5, "Environment variable attributes".
void change(environment& env, const std::vector<info>& infos) {
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

environment environment_of(const spawn_request& request, const app& program,
                           const job_context& context) {
  auto result = environment{};
  for (const auto& x : context.environment) {
    auto [name, val] = split_variable(x);
    if (!name.empty() && !belongs_to_other_launcher(name))
      result.insert_or_assign(std::move(name), std::move(val));
  }
  change(result, request.job_infos);
  for (const auto& x : program.env) {
    auto [name, val] = split_variable(x);
    if (!name.empty())
      result.insert_or_assign(std::move(name), std::move(val));
  }
  change(result, program.infos);
  // Open MPI 4.1 takes itself for a singleton unless it sees a resource
  // manager; this is the smallest sign that it accepts.
  result.insert_or_assign("FLUX_JOB_ID", std::to_string(context.number));
  return result;
}

/// What a process needs to find its PMI-1 server.
/// Source: MPICH, PMI version 1.1.
void add_pmi1(start_process& x, uint32_t size, bool is_spawned) {
  x.with_pmi1 = true;
  x.env.push_back("PMI_FD=" + std::to_string(pmi1_descriptor));
  x.env.push_back("PMI_RANK=" + std::to_string(x.proc.rank));
  x.env.push_back("PMI_SIZE=" + std::to_string(size));
  if (is_spawned)
    x.env.emplace_back("PMI_SPAWNED=1");
}

std::string working_directory(const spawn_request& request, const app& program,
                              const job_context& context) {
  if (program.cwd && !program.cwd->empty())
    return *program.cwd;
  if (const auto x = text(program.infos, attr::wdir))
    return *x;
  if (const auto x = text(request.job_infos, attr::wdir))
    return *x;
  return context.working_directory;
}

std::string command_line(const app& program) {
  auto result = std::string{};
  for (const auto& x : program.argv)
    result += (result.empty() ? "" : " ") + x;
  return result.empty() ? program.cmd : result;
}

/// `0,1,2,...` as clients expect their peers.
std::string list_of_ranks(uint32_t first, uint32_t count) {
  auto result = std::string{};
  for (uint32_t i = 0; i < count; ++i)
    result += (i > 0 ? "," : "") + std::to_string(first + i);
  return result;
}

/// The programs' first ranks and sizes.
struct app_range {
  uint32_t first;
  uint32_t size;
};

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

caf::error refusal(const spawn_request& request, const job_options& options,
                   const job_context& context) {
  if (request.apps.empty())
    return make_error(status::bad_param, "a job needs a program");
  constexpr auto most = uint64_t{65535}; // A local rank has 16 bits.
  auto total = uint64_t{0};
  for (const auto& x : request.apps) {
    if (x.cmd.empty())
      return make_error(status::job_no_exe_specified,
                        "a program of the job has no name");
    if (x.max_procs < 1)
      return make_error(status::bad_param, x.cmd + " is to run "
                                             + std::to_string(x.max_procs)
                                             + " times; give a number above 0");
    total += static_cast<uint64_t>(x.max_procs);
  }
  if (total > most)
    return make_error(status::bad_param, std::to_string(total)
                                           + " processes are more than "
                                           + std::to_string(most));
  if (!options.oversubscribe && total > context.slots)
    return make_error(status::job_insufficient_resources,
                      std::to_string(total) + " processes do not fit into "
                        + std::to_string(context.slots) + " slots of "
                        + context.hostname
                        + "; use --oversubscribe to run them nevertheless");
  if (options.stdin_target != rank_undef
      && options.stdin_target != rank_wildcard && options.stdin_target >= total)
    return make_error(
      status::bad_param,
      "standard input cannot go to rank " + std::to_string(options.stdin_target)
        + " of a job with " + std::to_string(total) + " processes");
  return {};
}

/// Where the files of a job go. Open MPI makes the directory itself; it goes
/// with the session.
std::string job_directory(const job_context& context) {
  return context.session_directory + "/job." + std::to_string(context.number);
}

/// Whether a process asked for the job.
bool is_spawned(const requester& parent) {
  return !parent.proc.nspace.empty() && parent.role == peer_role::client;
}

/// Data that whoever asks for the job gives it. What the host says cannot be
/// overridden.
void add_preset(const spawn_request& request, std::vector<info>& to) {
  const auto* preset = find(request.job_infos, preset_data);
  if (preset == nullptr)
    return;
  for (auto& x : infos_of(*preset))
    if (x.key.compare(0, 4, "pmix") != 0)
      to.push_back(std::move(x));
}

/// The job-level data. Source: OpenPMIx wire protocol, job info, the set that
/// Open MPI's own launcher sends.
std::vector<info> job_level(const spawn_request& request,
                            const requester& parent, const job_plan& plan,
                            const job_context& context,
                            const node_topology& topology) {
  const auto size = static_cast<uint32_t>(plan.map.procs.size());
  const auto peers = list_of_ranks(0, size);
  const auto universe = std::max(size, context.slots);
  auto result = std::vector<info>{
    make_info(attr::server_nspace, value::string(context.server.nspace)),
    make_info(attr::server_rank, value::rank(context.server.rank)),
    make_info(attr::jobid, value::string(context.nspace)),
    make_info(attr::nproc_offset, value::rank(0)),
    make_info(attr::num_nodes, value::uint32(1)),
    make_info(attr::job_size, value::uint32(size)),
    make_info(attr::job_num_apps,
              value::uint32(static_cast<uint32_t>(request.apps.size()))),
    make_info(attr::max_procs, value::uint32(size)),
    make_info(attr::univ_size, value::uint32(universe)),
    make_info(attr::mapby, value::string(plan.map.map_by)),
    make_info(attr::rankby, value::string("slot")),
    make_info(attr::bindto, value::string(plan.map.bind_to)),
    make_info(attr::node_list, value::string(context.hostname)),
    make_info(attr::local_peers, value::string(peers)),
    make_info(attr::local_size, value::uint32(size)),
    make_info(attr::rm_name, value::string("troupe")),
    make_info(attr::anl_map,
              value::string("(vector,(0,1," + std::to_string(size) + "))")),
    make_info(
      attr::session_info_array,
      value::infos({make_info(attr::session_id, value::uint32(context.number)),
                    make_info(attr::univ_size, value::uint32(universe))})),
    make_info(
      attr::node_info_array,
      value::infos({make_info(attr::hostname, value::string(context.hostname)),
                    make_info(attr::nodeid, value::uint32(0)),
                    make_info(attr::local_peers, value::string(peers)),
                    make_info(attr::local_size, value::uint32(size)),
                    make_info(attr::node_size, value::uint32(size)),
                    make_info(attr::localldr, value::rank(0))})),
  };
  if (!topology.signature.empty())
    result.push_back(
      make_info(attr::topology_signature, value::string(topology.signature)));
  if (!context.session_directory.empty()) {
    result.push_back(
      make_info(attr::tmpdir, value::string(context.session_directory)));
    result.push_back(
      make_info(attr::nsdir, value::string(job_directory(context))));
    result.push_back(make_info(attr::tdir_rmclean, value::boolean(true)));
  }
  if (is_spawned(parent)) {
    result.push_back(make_info(attr::spawned, value::boolean(true)));
    result.push_back(make_info(attr::parent_id, value::of_proc(parent.proc)));
  }
  add_preset(request, result);
  return result;
}

info app_array(uint32_t number, app_range range, const app& program) {
  return make_info(
    attr::app_info_array,
    value::infos(
      {make_info(attr::appnum, value::uint32(number)),
       make_info(attr::app_size, value::uint32(range.size)),
       make_info(attr::appldr, value::rank(range.first)),
       make_info(attr::app_argv, value::string(command_line(program)))}));
}

info rank_array(const placed_proc& proc, app_range range,
                const job_context& context, const node_topology& topology) {
  const auto local = static_cast<uint16_t>(proc.rank);
  auto infos = std::vector<info>{
    make_info(attr::rank, value::rank(proc.rank)),
    make_info(attr::hostname, value::string(context.hostname)),
    make_info(attr::nodeid, value::uint32(0)),
    make_info(attr::appnum, value::uint32(proc.app)),
    make_info(attr::local_rank, value::uint16(local)),
    make_info(attr::node_rank, value::uint16(local)),
    make_info(attr::global_rank, value::rank(proc.rank)),
    make_info(attr::app_rank, value::rank(proc.rank - range.first)),
    make_info(attr::reincarnation, value::uint32(0)),
  };
  if (!context.session_directory.empty())
    infos.push_back(make_info(
      attr::procdir,
      value::string(job_directory(context) + "/" + std::to_string(proc.rank))));
  if (!proc.cpus.empty()) {
    infos.push_back(
      make_info(attr::locality_string,
                value::string(locality_string(proc.cpus, topology))));
    infos.push_back(
      make_info(attr::cpuset, value::string(to_ranges(proc.cpus))));
  }
  return make_info(attr::proc_data, value::infos(std::move(infos)));
}

} // namespace

caf::expected<job_plan> plan_job(const spawn_request& request,
                                 const requester& parent,
                                 const job_options& options,
                                 const job_context& context,
                                 const node_topology& topology) {
  if (auto why = refusal(request, options, context))
    return why;
  const auto ranges = app_ranges(request);
  const auto size = ranges.back().first + ranges.back().size;
  const auto cpus = place(size, options, topology);
  auto plan = job_plan{};
  plan.map = {context.nspace,
              context.hostname,
              {},
              to_string(options.map_by),
              to_string(options.bind_to)};
  for (uint32_t number = 0; number < ranges.size(); ++number) {
    const auto& program = request.apps[number];
    const auto range = ranges[number];
    auto env = std::vector<std::string>{};
    for (const auto& [name, val] : environment_of(request, program, context))
      env.push_back(name + "=" + val);
    const auto wdir = working_directory(request, program, context);
    for (auto rank = range.first; rank < range.first + range.size; ++rank) {
      plan.map.procs.push_back({rank, number, cpus[rank]});
      const auto wants_stdin =
        options.stdin_target == rank_wildcard || options.stdin_target == rank;
      plan.processes.push_back({{context.nspace, rank},
                                program.cmd,
                                program.argv,
                                env,
                                wdir,
                                cpus[rank],
                                wants_stdin});
      if (plan.processes.back().argv.empty())
        plan.processes.back().argv.push_back(program.cmd);
      if (context.with_pmi1)
        add_pmi1(plan.processes.back(), size, is_spawned(parent));
    }
  }
  plan.registration.nspace = context.nspace;
  plan.registration.owner = parent.creds;
  plan.registration.infos = job_level(request, parent, plan, context, topology);
  for (uint32_t number = 0; number < ranges.size(); ++number)
    plan.registration.infos.push_back(
      app_array(number, ranges[number], request.apps[number]));
  for (const auto& proc : plan.map.procs) {
    plan.registration.local_ranks.push_back(proc.rank);
    plan.registration.infos.push_back(
      rank_array(proc, ranges[proc.app], context, topology));
  }
  return plan;
}

} // namespace troupe
