#pragma once

#include "messages/process.hpp"

#include <caf/error.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace troupe {

/// The descriptors of a daemon, as its system says.
struct descriptor_use {
  /// How many it may have, by the limit of open files.
  uint64_t limit = 0;

  /// How many it has.
  uint64_t in_use = 0;

  /// What it takes no connections without.
  uint64_t reserve = 0;
};

/// Descriptors that a daemon holds for a process of its own while that runs:
/// its ends of the streams, what tells it of the end, and a connection.
/// Source: `process_launcher`; one connection per client of PMIx.
uint64_t descriptors_for(const start_process& what);

/// Sees to it that a job begins only if there are descriptors for all its
/// processes here: one that runs out of them half-way would wait for ever for
/// processes that cannot connect.
class descriptor_budget {
public:
  /// @param look Tells what is in use at the moment.
  explicit descriptor_budget(std::function<descriptor_use()> look);

  /// Sets descriptors aside for the processes of a job, until `give_back`.
  /// @param files Descriptors for files into which they write.
  /// @returns `sys_limits_files` with the limit, its value and the need.
  caf::error take(const std::string& nspace,
                  const std::vector<start_process>& processes, uint64_t files,
                  const std::string& hostname);

  /// The job is over, or does not begin. Others are left alone.
  void give_back(const std::string& nspace);

private:
  std::function<descriptor_use()> look_;

  /// What was in use without any job.
  uint64_t base_ = 0;

  /// What is set aside, by namespace, and all of it.
  std::map<std::string, uint64_t> taken_;
  uint64_t total_ = 0;
};

} // namespace troupe
