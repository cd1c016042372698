#pragma once

#include "actors/control/checkpoint_steps.hpp"
#include "actors/control/job_controller.hpp"

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Checkpoints, restart, preemption and provision, as verbs of the
/// `job_controller`, and what processes declare for them. Part of the root's
/// MESH HOST.
/// Source: RFC0015, Job Control; requirements J10 to J14, J16 to J18, J26 to
/// J32.
class checkpoint_desk {
public:
  checkpoint_desk() : state_(std::make_shared<checkpoint_state>()) {
    // nop
  }

  /// Offers these verbs.
  void join(job_controller& controller);

  /// A process says by which methods it saves its state, or that its job can be
  /// preempted.
  /// @param is_of_job Whether it belongs to a job: others are refused.
  caf::error declare(const requester& who, const control_directives& what,
                     bool is_of_job);

  void procs_ended(const std::vector<proc_id>& procs);

  void job_over(const std::string& nspace);

  /// What a process and its job have declared.
  std::vector<info> describe(const proc_id& proc) const {
    return state_->declared.describe(proc);
  }

  /// How full it is.
  std::vector<gauge> gauges() const;

private:
  checkpoint_state_ptr state_;
};

} // namespace troupe
