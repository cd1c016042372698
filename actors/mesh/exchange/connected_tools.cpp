#include "actors/mesh/exchange/connected_tools.hpp"

#include "messages/status.hpp"

#include <algorithm>

namespace troupe {

caf::expected<proc_id> connected_tools::identify(const requester& who) {
  const auto& claimed = who.proc;
  if (who.role == peer_role::scheduler)
    return make_error(status::no_permissions,
                      to_string(claimed)
                        + " is no scheduler of this DVM: it has none");
  // A job of this DVM has such a name, or may have it: this node need not have
  // heard of it.
  const auto of_jobs = server_ + "@";
  if (claimed.nspace.compare(0, of_jobs.size(), of_jobs) == 0)
    return make_error(status::no_permissions,
                      "a tool may not call itself " + to_string(claimed)
                        + ", a name of jobs; ask for an identity instead");
  auto& name = all_[who.index];
  if (!claimed.nspace.empty() && !needs_identity(who.role)) {
    name = claimed;
    return name;
  }
  auto prefix = server_ + "-tool";
  if (node_ != 0)
    prefix += std::to_string(node_) + ".";
  // A tool that names itself may have taken it.
  auto nspace = std::string{};
  do
    nspace = prefix + std::to_string(next_++);
  while (is_taken(nspace));
  name = {nspace, 0};
  return name;
}

bool connected_tools::is_taken(const std::string& nspace) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const auto& x) { return x.second.nspace == nspace; });
}

std::map<std::string, std::vector<proc_id>>
connected_tools::among(const std::vector<proc_id>& targets,
                       const job_locations& places) const {
  auto result = std::map<std::string, std::vector<proc_id>>{};
  for (const auto& [connection, id] : all_) {
    const auto is_meant = [&id = id](const proc_id& x) {
      return matches(x, id);
    };
    if (places.knows(id.nspace)
        || (!targets.empty()
            && std::none_of(targets.begin(), targets.end(), is_meant)))
      continue;
    auto& those = result[id.nspace];
    if (std::count(those.begin(), those.end(), id) == 0)
      those.push_back(id);
  }
  return result;
}

bool connected_tools::has(const std::vector<proc_id>& procs,
                          const job_locations& places) const {
  return !among(procs, places).empty();
}

std::vector<proc_id> connected_tools::named(const proc_id& what) const {
  auto result = std::vector<proc_id>{};
  for (const auto& [connection, id] : all_)
    if (matches(what, id) && std::count(result.begin(), result.end(), id) == 0)
      result.push_back(id);
  std::sort(result.begin(), result.end());
  return result;
}

} // namespace troupe
