#include "actors/named_procs.hpp"

#include "actors/server_state.hpp"

#include <optional>
#include <string>

namespace troupe::server_internals {

caf::expected<uint64_t> count_named(server_state& state,
                                    const std::vector<proc_id>& procs) {
  auto result = uint64_t{0};
  // There may be 60,000 of one job: it is looked up once.
  const std::string* nspace = nullptr;
  auto size = std::optional<uint32_t>{};
  for (const auto& proc : procs) {
    if (nspace == nullptr || *nspace != proc.nspace) {
      const auto* entry = state.find_namespace(proc.nspace);
      if (entry == nullptr)
        return make_error(status::invalid_namespace,
                          "no namespace " + proc.nspace);
      nspace = &proc.nspace;
      size = entry->data.job_size();
    }
    if (proc.rank == rank_wildcard) {
      result += size.value_or(1);
      continue;
    }
    if (proc.rank > rank_valid_max || (size && proc.rank >= *size))
      return make_error(status::bad_param, "namespace " + proc.nspace
                                             + " has no rank "
                                             + std::to_string(proc.rank));
    ++result;
  }
  return result;
}

} // namespace troupe::server_internals
