#include "actors/jobs/job_plan.hpp"

#include "actors/jobs/number_list.hpp"
#include "actors/jobs/placement.hpp"
#include "actors/jobs/process_environment.hpp"
#include "actors/make_info.hpp"
#include "actors/monitors/reaction_policy.hpp"
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
void add_preset(const spawn_request& request, std::vector<info>& to) {
  if (auto policy = job_policy(request.job_infos))
    to.push_back(std::move(*policy));
  const auto* preset = find(request.job_infos, preset_data);
  if (preset == nullptr)
    return;
  for (auto& x : infos_of(*preset))
    if (x.key.compare(0, 4, "pmix") != 0 || x.key == attr::job_ctrl_restart)
      to.push_back(std::move(x));
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
  add_preset(request, result);
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

} // namespace troupe
