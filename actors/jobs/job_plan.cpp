#include "actors/jobs/job_plan.hpp"

#include "actors/jobs/placement.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace troupe {

namespace {

using environment = std::map<std::string, std::string>;

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
                           const job_context& context, uint32_t number) {
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
  result.insert_or_assign("FLUX_JOB_ID", std::to_string(number));
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

void wire(start_process& x, const io_wiring& wiring) {
  x.with_stdin =
    wiring.stdin_target == rank_wildcard || wiring.stdin_target == x.proc.rank;
  x.merges_stderr = wiring.merge;
  x.with_stddiag = wiring.forward_stddiag.value_or(false);
  x.with_pty = wiring.with_pty;
  x.pty_rows = wiring.pty_rows;
  x.pty_columns = wiring.pty_columns;
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

} // namespace

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
  auto environments = std::map<uint32_t, std::vector<std::string>>{};
  for (const auto& proc : own->procs) {
    const auto& program = request.apps[proc.app];
    const auto [env, is_new] = environments.try_emplace(proc.app);
    if (is_new)
      for (const auto& [name, val] :
           environment_of(request, program, context, map.number))
        env->second.push_back(name + "=" + val);
    plan.registration.local_ranks.push_back(proc.rank);
    plan.processes.push_back({{map.nspace, proc.rank},
                              program.cmd,
                              program.argv,
                              env->second,
                              working_directory(request, program, context),
                              proc.cpus});
    auto& added = plan.processes.back();
    if (added.argv.empty())
      added.argv.push_back(program.cmd);
    wire(added, options.io);
    if (context.with_pmi1)
      add_pmi1(added, size, is_spawned(parent));
  }
  return plan;
}

} // namespace troupe
