#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace troupe {

/// The processors of a node to which its jobs have bound processes: so that the
/// jobs of a DVM do not all meet on the first core.
class processor_ledger {
public:
  /// Notes that a job has bound processes to `cpus`, beside what it had.
  void take(const std::string& nspace, const std::set<uint32_t>& cpus);

  /// The job is over here.
  void release(const std::string& nspace);

  /// What all jobs have.
  std::set<uint32_t> taken() const;

private:
  std::map<std::string, std::set<uint32_t>> by_job_;
};

} // namespace troupe
