#include "actors/jobs/process_environment.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

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
