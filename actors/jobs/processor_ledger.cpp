#include "actors/jobs/processor_ledger.hpp"

namespace troupe {

void processor_ledger::take(const std::string& nspace,
                            const std::set<uint32_t>& cpus) {
  if (!cpus.empty())
    by_job_[nspace].insert(cpus.begin(), cpus.end());
}

void processor_ledger::release(const std::string& nspace) {
  by_job_.erase(nspace);
}

std::set<uint32_t> processor_ledger::taken() const {
  auto result = std::set<uint32_t>{};
  for (const auto& [nspace, cpus] : by_job_)
    result.insert(cpus.begin(), cpus.end());
  return result;
}

} // namespace troupe
