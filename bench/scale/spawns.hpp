#pragma once

#include "actors/jobs/dvm_jobs.hpp"
#include "actors/jobs/shares.hpp"
#include "bench/scale/network.hpp"

#include <memory>
#include <vector>

namespace troupe::scale {

/// The jobs of a DVM at its root, and the shares of its nodes. What the nodes
/// do for a process takes no time.
class spawns {
public:
  /// A job has no more processes, see docs/library.md.
  static constexpr uint32_t most_nodes = 65535;

  /// Of more nodes no job ends here: the root keeps the end of each process for
  /// each node that has not heard of it.
  static constexpr uint32_t most_that_end = 1000;

  spawns(uint32_t size, const costs& what);

  spawns(const spawns&) = delete;
  spawns& operator=(const spawns&) = delete;

  /// Starts a job with a process on each node: until the root has heard of all
  /// that they run. Ends the program if they do not.
  figures spawn();

  /// All processes end: until the root has forgotten the job.
  figures end();

private:
  static dvm_jobs::settings settings_of_jobs();
  static dvm_nodes nodes_of(uint32_t size);
  dvm_jobs::effects means_of_jobs();
  shares::effects means_of_shares(uint32_t rank);
  void carry_out(uint32_t rank, host_question& what,
                 const std::function<void(host_reply)>& reply);
  void change(uint32_t rank, proc_state state);

  network net_;
  uint32_t size_;
  job_locations places_;
  dvm_jobs jobs_;
  std::vector<std::unique_ptr<shares>> shares_;
  std::string nspace_;
  bool is_started_ = false;
  bool is_over_ = false;
};

} // namespace troupe::scale
