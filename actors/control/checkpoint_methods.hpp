#pragma once

#include "actors/control/control_directives.hpp"
#include "config/defaults.hpp"
#include "messages/proc_id.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Whether a method is a signal that no process can catch.
bool cannot_be_caught(const checkpoint_method& x);

/// What processes have declared of themselves: by which methods each can save
/// its state, until it ends, and that a job can be preempted, until that is
/// over. Who declares again replaces what it said before; the last process to
/// speak of the job speaks for it.
/// Source: RFC0015, PMIX_JOB_CTRL_CHECKPOINT_METHOD, PMIX_JOB_CTRL_PREEMPTIBLE.
class checkpoint_methods {
public:
  explicit checkpoint_methods(size_t max_procs = defaults::checkpoint_declarers)
    : max_procs_(max_procs) {
    // nop
  }

  /// Notes what a process says. Targets mean nothing to it.
  /// @returns `out_of_resource` at a bound, `bad_param` for a signal that no
  ///          process can catch: then nothing has changed.
  caf::error declare(const proc_id& who, const control_directives& what);

  /// The methods of a process, in the order in which it prefers them; null if
  /// it has declared none.
  const std::vector<checkpoint_method>* find(const proc_id& proc) const;

  bool is_preemptible(const std::string& nspace) const;

  /// What a process has declared, and its job, under the keys of the
  /// declarations. With the wildcard, only the job.
  std::vector<info> describe(const proc_id& proc) const;

  void proc_ended(const proc_id& proc);

  void job_ended(const std::string& nspace);

  /// Processes that have declared something, and jobs that can be preempted.
  size_t size() const {
    return methods_.size() + preemptible_.size();
  }

private:
  size_t max_procs_;
  std::map<proc_id, std::vector<checkpoint_method>> methods_;
  std::map<std::string, proc_id> preemptible_; // by namespace: who said so
};

} // namespace troupe
