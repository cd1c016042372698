#include "runtime/placed_job.hpp"

#include "actors/jobs/job_plan.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// The largest job that one call of PMIx can name: docs/library.md.
constexpr auto most_processes = size_t{65536};

caf::error check(const placed_job& job) {
  const auto refuse = [](const std::string& why) {
    return make_error(status::bad_param, why);
  };
  if (job.nspace.empty())
    return refuse("the job has no name: set placed_job::nspace");
  if (job.argv.empty() || job.argv.front().empty())
    return refuse("job " + job.nspace
                  + " has no program: name it first in placed_job::argv");
  if (job.nodes.empty())
    return refuse("job " + job.nspace
                  + " has no process: name the node of each in"
                    " placed_job::nodes");
  if (job.nodes.size() > most_processes)
    return refuse("job " + job.nspace + " has "
                  + std::to_string(job.nodes.size())
                  + " processes, and a job has at most "
                  + std::to_string(most_processes) + ": make it several");
  return {};
}

std::string name_of(const placed_job& job, uint32_t node) {
  const auto i = job.hosts.find(node);
  return i != job.hosts.end() ? i->second : "node" + std::to_string(node);
}

job_map map_of(const placed_job& job) {
  auto shares = std::map<uint32_t, node_share>{};
  for (size_t rank = 0; rank < job.nodes.size(); ++rank) {
    const auto node = job.nodes[rank];
    auto& share = shares[node];
    share.node = node;
    share.procs.push_back({static_cast<uint32_t>(rank), 0, {}});
  }
  auto result = job_map{};
  result.nspace = job.nspace;
  for (auto& [node, share] : shares) {
    share.hostname = name_of(job, node);
    result.shares.push_back(std::move(share));
  }
  return result;
}

/// What only the resource manager could say, and has not.
bool is_of_manager(const info& x) {
  return x.key == attr::rm_name || x.key == attr::mapby || x.key == attr::rankby
         || x.key == attr::bindto || x.key == attr::session_info_array;
}

} // namespace

caf::expected<placed_share> share_of(const placed_job& job, uint32_t node,
                                     const proc_id& server) {
  if (auto why = check(job))
    return why;
  auto program = app{};
  program.cmd = job.argv.front();
  program.argv = job.argv;
  program.env = job.env;
  if (!job.wdir.empty())
    program.cwd = job.wdir;
  program.max_procs = static_cast<int32_t>(job.nodes.size());
  const auto request = spawn_request{{}, {std::move(program)}};
  auto owner = requester{};
  owner.creds = {::getuid(), ::getgid()};
  auto options = job_options{};
  options.io.stdin_target = rank_wildcard;
  auto context = job_context{};
  context.server = server;
  context.node = node;
  context.hostname = name_of(job, node);
  context.universe = job.universe;
  for (auto** x = environ; *x != nullptr; ++x)
    context.environment.emplace_back(*x);
  auto plan = plan_job(map_of(job), request, owner, options, context, {});
  auto& infos = plan.registration.infos;
  infos.erase(std::remove_if(infos.begin(), infos.end(), is_of_manager),
              infos.end());
  return placed_share{std::move(plan.registration), std::move(plan.processes)};
}

} // namespace troupe
