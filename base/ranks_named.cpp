#include "base/ranks_named.hpp"

#include <algorithm>

namespace troupe {

std::map<std::string, std::vector<uint32_t>>
ranks_named(const std::vector<proc_id>& procs) {
  auto result = std::map<std::string, std::vector<uint32_t>>{};
  // Those of a namespace mostly follow each other, and in order.
  auto i = result.end();
  for (const auto& proc : procs) {
    if (i == result.end() || i->first != proc.nspace)
      i = result.try_emplace(proc.nspace).first;
    if (i->second.empty() || i->second.back() != proc.rank)
      i->second.push_back(proc.rank);
  }
  for (auto& [nspace, ranks] : result) {
    if (!std::is_sorted(ranks.begin(), ranks.end()))
      std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  }
  return result;
}

} // namespace troupe
