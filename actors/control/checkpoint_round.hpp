#pragma once

#include "actors/control/checkpoint_methods.hpp"
#include "actors/control/control_table.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe {

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
