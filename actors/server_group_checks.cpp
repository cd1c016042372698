#include "actors/named_procs.hpp"
#include "actors/ranks_named.hpp"
#include "actors/server_groups.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <optional>
#include <string>

// Which groups there may be: names, participants, directives.

namespace troupe::server_internals {

std::vector<proc_id> spelt_out(server_state& state,
                               const std::vector<proc_id>& procs) {
  auto result = std::vector<proc_id>{};
  for (const auto& [nspace, ranks] : ranks_named(procs)) {
    const auto* entry = state.find_namespace(nspace);
    for (const auto named : ranks) {
      if (named != rank_wildcard) {
        result.push_back({nspace, named});
      } else if (const auto size =
                   entry != nullptr ? entry->data.job_size() : std::nullopt) {
        for (uint32_t rank = 0; rank < *size; ++rank)
          result.push_back({nspace, rank});
      } else if (entry != nullptr) {
        for (const auto& [rank, unused] : entry->procs)
          result.push_back({nspace, rank});
      }
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

caf::error id_refusal(server_state& state, const std::string& id) {
  if (id.empty() || id.size() > max_nspace_length)
    return make_error(status::bad_param, "the name of a group has 1 to "
                                           + std::to_string(max_nspace_length)
                                           + " bytes, not "
                                           + std::to_string(id.size()));
  if (state.find_namespace(id) != nullptr)
    return make_error(status::bad_param,
                      id + " is a namespace; give the group a name of its own");
  return {};
}

caf::error procs_refusal(server_state& state, const std::string& id,
                         const std::vector<proc_id>& procs) {
  const auto count = count_named(state, procs);
  if (!count)
    return count.error();
  if (*count > defaults::group_participants)
    return make_error(status::out_of_resource,
                      "group " + id + " has more than "
                        + std::to_string(defaults::group_participants)
                        + " participants");
  return {};
}

bool is_leaderless(const server_state& state, const open_group& group) {
  if (group.is_led || state.options.spans_nodes)
    return false;
  for (const auto& [nspace, entry] : state.namespaces) {
    if (!entry.is_tool && !entry.is_local())
      return false;
    for (const auto& [rank, proc] : entry.procs) {
      const auto call = group.local.find({nspace, rank});
      if (!proc.is_gone()
          && (call == group.local.end() || call->second != use::taking_part))
        return false;
    }
  }
  return true;
}

caf::error timeout_refusal(const std::vector<info>& directives) {
  const auto* limit = find(directives, attr::timeout);
  if (limit == nullptr || number<int32_t>(directives, attr::timeout))
    return {};
  return make_error(status::bad_param,
                    "PMIX_TIMEOUT is a number of seconds, not a value of type "
                      + to_string(limit->type));
}

} // namespace troupe::server_internals
