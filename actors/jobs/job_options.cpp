#include "actors/jobs/job_options.hpp"

#include "actors/jobs/io_options.hpp"
#include "actors/jobs/mapping_words.hpp"
#include "actors/timeout.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// The options that PRRTE's launcher hands over as text, with commas between.
/// Source: PMIX_RUNTIME_OPTIONS; PRRTE's `--runtime-options`.
void read_runtime_options(const std::vector<info>& infos,
                          job_options& options) {
  const auto given = text(infos, attr::runtime_options);
  if (!given)
    return;
  for (size_t begin = 0; begin <= given->size();) {
    const auto end = std::min(given->find(',', begin), given->size());
    auto name = lower_case(given->substr(begin, end - begin));
    name.resize(std::min(name.find(':'), name.size()));
    auto is_set = true;
    if (const auto sign = name.find('='); sign != std::string::npos) {
      const auto val = name.substr(sign + 1);
      is_set = val != "0" && val != "false" && val != "no";
      name.resize(sign);
    }
    if (name == "recoverable" || name == "continuous")
      options.recoverable = is_set;
    else if (name == "error-nonzero-status")
      options.abort_non_zero = is_set;
    begin = end + 1;
  }
}

} // namespace

caf::expected<job_options> read_options(const spawn_request& request) {
  auto result = job_options{};
  auto infos = request.job_infos;
  // Launchers give a job's directives with its first program, too.
  if (!request.apps.empty())
    infos.insert(infos.end(), request.apps.front().infos.begin(),
                 request.apps.front().infos.end());
  if (auto err = read_mapping_words(infos, result))
    return err;
  read_runtime_options(infos, result);
  if (find(infos, attr::job_recoverable) != nullptr)
    result.recoverable = flag(infos, attr::job_recoverable);
  if (const auto* x = find(infos, attr::abort_non_zero_term))
    result.abort_non_zero = x->truth();
  result.is_dry = flag(infos, dry_run_key);
  result.timeout = timeout_of(infos, attr::job_timeout);
  auto wiring = read_io_wiring(request);
  if (!wiring)
    return std::move(wiring.error());
  result.io = std::move(*wiring);
  return result;
}

void settle(job_options& options, uint32_t job_size) {
  constexpr auto few = uint32_t{2};
  const auto single =
    options.threads_are_cpus ? resource_kind::hwthread : resource_kind::core;
  const auto usual = job_size <= few ? single : resource_kind::numa;
  const auto is_listed = options.nodes == node_policy::seq
                         || options.nodes == node_policy::rank_file;
  if (!options.map_given && !is_listed)
    options.map_by = options.cpus_per_proc > 1 ? resource_kind::slot : usual;
  if (options.bind_given)
    return;
  if (options.cpus_per_proc > 0 || options.is_list_ordered)
    options.bind_to = single;
  else if (options.map_by == resource_kind::slot
           || options.map_by == resource_kind::node)
    options.bind_to = usual;
  else
    options.bind_to = options.map_by;
}

bool needs_topology(const job_options& options) {
  return options.bind_to != resource_kind::none || !options.cpu_list.empty()
         || options.nodes == node_policy::rank_file;
}

bool is_binding_required(const job_options& options) {
  return options.bind_given || options.cpus_per_proc > 0
         || !options.cpu_list.empty()
         || options.nodes == node_policy::rank_file;
}

resource_kind counted_objects(const job_options& options) {
  if (options.nodes == node_policy::ppr
      && options.ppr_object != resource_kind::node)
    return options.ppr_object;
  const auto is_whole = options.map_by == resource_kind::slot
                        || options.map_by == resource_kind::node;
  if (!is_whole && (options.spans || options.rank_by == rank_policy::span))
    return options.map_by;
  return resource_kind::none;
}

bool counts_processes(const job_options& options) {
  return options.nodes == node_policy::ppr || options.nodes == node_policy::seq
         || options.nodes == node_policy::rank_file;
}

std::string ranking_of(const job_options& options) {
  switch (options.rank_by) {
    case rank_policy::node:
      return "node";
    case rank_policy::fill:
      return "fill";
    case rank_policy::span:
      return "span";
    case rank_policy::object:
      return to_string(options.rank_object);
    default:
      return "slot";
  }
}

std::string mapping_of(const job_options& options) {
  auto result = std::string{};
  if (options.nodes == node_policy::ppr)
    result = "ppr:" + std::to_string(options.per_object) + ":"
             + to_string(options.ppr_object);
  else if (options.nodes == node_policy::seq)
    result = "seq";
  else if (options.nodes == node_policy::rank_file)
    result = "rankfile";
  else if (options.nodes == node_policy::node)
    result = "node";
  else
    result = to_string(options.map_by);
  if (options.cpus_per_proc > 0)
    result += ":pe=" + std::to_string(options.cpus_per_proc);
  if (options.spans)
    result += ":span";
  return result;
}

} // namespace troupe
