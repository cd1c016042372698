#pragma once

#include "actors/control/control_directives.hpp"
#include "actors/control/control_table.hpp"
#include "actors/control/defaults.hpp"
#include "messages/proc_id.hpp"

#include <map>
#include <optional>
#include <set>
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

/// Processes that save their state: who was asked, who has said that it has,
/// who ended before. Whoever was not asked does not count.
/// Source: RFC0015, PMIX_JCTRL_CHECKPOINT_COMPLETE.
class checkpoint_round {
public:
  /// How each process is asked.
  struct plan {
    std::map<int32_t, std::vector<proc_id>> by_signal;
    std::map<status, std::vector<proc_id>> by_event;

    /// By the site's hook, which needs nothing of the process.
    std::vector<proc_id> by_hook;
  };

  /// Works out how processes are asked: as the request says, otherwise by the
  /// first method of each that we support, otherwise by the site's hook.
  /// @param wanted   The methods of the request; the first counts.
  /// @param has_hook Whether the site has a hook for checkpoints.
  /// @returns `bad_param` if there is nobody, or for a signal that no process
  /// can
  ///          catch; `not_supported` with the names of
  ///          those that have declared no method: then nobody is asked.
  static caf::expected<plan>
  make_plan(const std::vector<proc_id>& procs,
            const std::vector<checkpoint_method>& wanted,
            const checkpoint_methods& declared, bool has_hook);

  /// @param name For texts: `checkpoint c1`.
  explicit checkpoint_round(std::string name,
                            const std::vector<proc_id>& procs);

  /// A process has saved its state.
  /// @returns whether it was asked, and had not said so before.
  bool complete(const proc_id& proc);

  /// A process cannot save its state any more.
  /// @param why `ended before it was complete`.
  /// @returns whether it was waited for.
  bool fail(const proc_id& proc, std::string why);

  /// Whether nobody is waited for any more.
  bool is_over() const {
    return waiting_.empty();
  }

  const std::set<proc_id>& saved() const {
    return saved_;
  }

  const std::set<proc_id>& waiting() const {
    return waiting_;
  }

  /// What became of it: `success` if all have saved their state; `timeout` if
  /// some have not said so, `error` if some failed, with the ranks of these.
  control_result result() const;

private:
  std::string name_;
  std::set<proc_id> waiting_;
  std::set<proc_id> saved_;
  std::map<proc_id, std::string> failed_;
};

/// Processes in words: `job@1: ranks 0-3, 7`; several namespaces with
/// semicolons between.
std::string list_of_procs(const std::set<proc_id>& procs);

} // namespace troupe
