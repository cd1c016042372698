#include "actors/jobs/job_plan.hpp"

#include "actors/jobs/placement.hpp"
#include "actors/jobs/process_environment.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <map>
#include <optional>
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

namespace {

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

} // namespace

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
      {std::string{attr::nodeid}, 0, value::uint32(node)},
      {std::string{attr::node_oversubscribed}, 0, value::boolean(true)}};
    infos.push_back(
      {std::string{attr::node_info_array}, 0, value::infos(std::move(about))});
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
    wire(added, options.io);
    added.with_pmi1 = context.with_pmi1;
  }
  return plan;
}

} // namespace troupe
