#include "actors/monitors/local_procs.hpp"

#include "messages/attributes.hpp"
#include "messages/enums.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// pid_t{-1} in a `node_pid`.
constexpr auto all_pids = UINT32_MAX;

bool is_meant(const proc_id& target, const proc_id& proc) {
  return target.nspace == proc.nspace
         && (target.rank == rank_wildcard || target.rank == proc.rank);
}

bool is_on(const node_pid& x, const std::string& hostname,
           std::optional<uint32_t> node_id) {
  if (x.hostname && !x.hostname->empty())
    return *x.hostname == hostname;
  return x.node_id == UINT32_MAX || x.node_id == node_id;
}

bool runs(const proc_info& x) {
  return x.pid != 0
         && static_cast<proc_state>(x.state) < proc_state::terminated;
}

} // namespace

void local_procs::add(const std::vector<std::string>& nspaces,
                      const info_result& answer, time now) {
  for (const auto& nspace : nspaces)
    tables_[nspace] = {{}, now};
  for (const auto& x : answer.infos) {
    const auto* array = x.val.array();
    if (x.key != attr::query_local_proc_table || array == nullptr)
      continue;
    for (const auto& y : array->elements)
      if (const auto* proc = std::get_if<box<proc_info>>(&y.data))
        if (const auto i = tables_.find((**proc).proc.nspace);
            i != tables_.end() && runs(**proc))
          i->second.procs.push_back(**proc);
  }
}

std::vector<std::string>
local_procs::stale(const std::vector<std::string>& nspaces, time now,
                   time age) const {
  auto result = std::vector<std::string>{};
  for (const auto& x : nspaces) {
    const auto i = tables_.find(x);
    if (i == tables_.end() || now - i->second.since >= age)
      result.push_back(x);
  }
  return result;
}

void local_procs::proc_ended(const proc_id& proc) {
  // Another may have come in its place.
  tables_.erase(proc.nspace);
}

void local_procs::remove(const std::string& nspace) {
  tables_.erase(nspace);
}

local_procs::selection local_procs::select(
  const usage_request& request, const std::vector<std::string>& nspaces,
  const std::string& hostname, std::optional<uint32_t> node_id) const {
  auto result = selection{};
  const auto has_targets = request.procs || request.pids;
  const auto is_wanted = [&](const proc_info& x) {
    if (!has_targets)
      return true;
    const auto by_name =
      request.procs
      && std::any_of(request.procs->begin(), request.procs->end(),
                     [&](const proc_id& y) { return is_meant(y, x.proc); });
    const auto by_pid =
      request.pids
      && std::any_of(request.pids->begin(), request.pids->end(),
                     [&](const node_pid& y) {
                       return is_on(y, hostname, node_id)
                              && (y.pid == all_pids || y.pid == x.pid);
                     });
    return by_name || by_pid;
  };
  if (request.names_node(hostname, node_id))
    for (const auto& nspace : nspaces)
      if (const auto i = tables_.find(nspace); i != tables_.end())
        std::copy_if(i->second.procs.begin(), i->second.procs.end(),
                     std::back_inserter(result.procs), is_wanted);
  const auto is_missing = [&](const proc_id& x) {
    return x.rank == rank_wildcard
           || std::none_of(result.procs.begin(), result.procs.end(),
                           [&](const proc_info& y) { return y.proc == x; });
  };
  const auto is_elsewhere = [&](const node_pid& x) {
    return !is_on(x, hostname, node_id);
  };
  result.others = !has_targets
                  || (request.procs
                      && std::any_of(request.procs->begin(),
                                     request.procs->end(), is_missing))
                  || (request.pids
                      && std::any_of(request.pids->begin(), request.pids->end(),
                                     is_elsewhere));
  if (request.hostnames || request.node_ids)
    result.others &= request.names_other_nodes(hostname, node_id);
  return result;
}

std::vector<std::string> nspaces_of(const usage_request& request) {
  auto result = std::vector<std::string>{};
  if (request.procs)
    for (const auto& x : *request.procs)
      if (std::find(result.begin(), result.end(), x.nspace) == result.end())
        result.push_back(x.nspace);
  return result;
}

query_request query_local_procs(const std::vector<std::string>& nspaces) {
  auto result = query_request{};
  for (const auto& x : nspaces)
    result.queries.push_back(
      {{std::string{attr::query_local_proc_table}},
       {{std::string{attr::nspace}, 0, value::string(x)}}});
  return result;
}

query_request query_nspaces() {
  return {{{{std::string{attr::query_namespaces}}, {}}}};
}

std::vector<std::string> nspaces_in(const info_result& answer) {
  auto result = std::vector<std::string>{};
  const auto names = text(answer.infos, attr::query_namespaces).value_or("");
  for (size_t begin = 0; begin < names.size();) {
    const auto end = std::min(names.find(',', begin), names.size());
    if (end > begin)
      result.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

} // namespace troupe
