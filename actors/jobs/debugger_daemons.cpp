#include "actors/jobs/debugger_daemons.hpp"

#include "actors/jobs/job_options.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

namespace {

/// What is read here, and replaced.
constexpr std::string_view keys_of_places[] = {
  attr::debugger_daemons, attr::debug_daemons_per_node,
  attr::debug_daemons_per_proc, attr::mapby, attr::ppr};

/// The directives of a job and of its first program.
std::vector<info> directives_of(const spawn_request& request) {
  auto result = request.job_infos;
  if (!request.apps.empty())
    result.insert(result.end(), request.apps.front().infos.begin(),
                  request.apps.front().infos.end());
  return result;
}

caf::error read_number(const std::vector<info>& infos, std::string_view key,
                       uint32_t& to) {
  const auto* given = find(infos, key);
  if (given == nullptr)
    return {};
  const auto number = given->number<uint16_t>();
  if (!number || *number == 0)
    return make_error(status::bad_param,
                      std::string{attribute_of(key)->c_name}
                        + " is no number of daemons; give 1 or more");
  to = *number;
  return {};
}

} // namespace

std::optional<proc_id> debug_target_of(const spawn_request& request) {
  const auto infos = directives_of(request);
  for (const auto key : {attr::debug_target, attr::debug_job}) {
    const auto* given = find(infos, key);
    if (given == nullptr)
      continue;
    if (const auto* proc = given->proc(); proc && !proc->nspace.empty())
      return *proc;
    if (const auto* name = given->text(); name && !name->empty())
      return proc_id{*name, rank_wildcard};
  }
  return std::nullopt;
}

caf::expected<std::optional<debugger_daemons>>
read_debugger_daemons(const spawn_request& request) {
  using result_type = std::optional<debugger_daemons>;
  const auto is_asked = [](const std::vector<info>& x) {
    return flag(x, attr::debugger_daemons);
  };
  if (!is_asked(request.job_infos)
      && std::none_of(request.apps.begin(), request.apps.end(),
                      [&](const app& x) { return is_asked(x.infos); }))
    return result_type{};
  if (request.apps.size() != 1)
    return make_error(
      status::not_supported,
      "daemons of a debugger (PMIX_DEBUGGER_DAEMONS) are a job "
      "of their own, of one program; start each program by itself");
  const auto target = debug_target_of(request);
  if (!target)
    return make_error(status::bad_param,
                      "PMIX_DEBUGGER_DAEMONS needs the job that they debug; "
                      "name it in PMIX_DEBUG_TARGET");
  auto result = debugger_daemons{};
  result.target = *target;
  const auto infos = directives_of(request);
  if (auto why =
        read_number(infos, attr::debug_daemons_per_proc, result.per_proc))
    return why;
  if (find(infos, attr::mapby) != nullptr
      || find(infos, attr::ppr) != nullptr) {
    auto options = job_options{};
    if (auto why = read_mapping_words(infos, options))
      return why;
    if (options.nodes != node_policy::ppr
        || options.ppr_object != resource_kind::node)
      return make_error(status::not_supported,
                        "daemons of a debugger go where the processes of their "
                        "target are: PMIX_MAPBY may be ppr:N:node; write that, "
                        "or leave it out");
    result.per_node = options.per_object;
  }
  if (auto why =
        read_number(infos, attr::debug_daemons_per_node, result.per_node))
    return why;
  if (find(infos, attr::host) != nullptr
      || find(infos, attr::add_host) != nullptr)
    return make_error(status::not_supported,
                      "daemons of a debugger go where the processes of their "
                      "target are; leave out PMIX_HOST and PMIX_ADD_HOST");
  return result_type{std::move(result)};
}

caf::error put_beside(const debugger_daemons& daemons, const job_map& target,
                      spawn_request& request) {
  auto hosts = std::string{};
  auto total = uint64_t{0};
  for (const auto& share : target.shares) {
    const auto procs = static_cast<uint64_t>(
      std::count_if(share.procs.begin(), share.procs.end(), [&](const auto& x) {
        return matches(daemons.target, {target.nspace, x.rank});
      }));
    const auto count = daemons.per_node > 0 && procs > 0
                         ? daemons.per_node
                         : procs * daemons.per_proc;
    if (count == 0)
      continue;
    hosts +=
      (hosts.empty() ? "" : ",") + share.hostname + ":" + std::to_string(count);
    total += count;
  }
  if (total == 0)
    return make_error(status::not_found,
                      "there is no process " + to_string(daemons.target)
                        + " to debug; troupe ps lists those there are");
  if (total > UINT16_MAX)
    return make_error(status::job_insufficient_resources,
                      std::to_string(total)
                        + " daemons of a debugger are too many for a job; ask "
                          "for PMIX_DEBUG_DAEMONS_PER_NODE");
  auto& program = request.apps.front();
  for (auto* infos : {&request.job_infos, &program.infos})
    infos->erase(std::remove_if(infos->begin(), infos->end(),
                                [](const info& x) {
                                  return std::find(std::begin(keys_of_places),
                                                   std::end(keys_of_places),
                                                   x.key)
                                         != std::end(keys_of_places);
                                }),
                 infos->end());
  program.max_procs = static_cast<int32_t>(total);
  auto& infos = request.job_infos;
  infos.push_back(make_info(attr::host, value::string(std::move(hosts))));
  infos.push_back(make_info(attr::mapby, value::string("seq:OVERSUBSCRIBE")));
  if (find(directives_of(request), attr::bindto) == nullptr)
    infos.push_back(make_info(attr::bindto, value::string("none")));
  return {};
}

} // namespace troupe
