#pragma once

#include "actors/control/checkpoint_records.hpp"
#include "actors/control/checkpoint_round.hpp"
#include "actors/control/control_steps.hpp"
#include "actors/control/job_controller.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long a job has to get ready for its preemption if the request does not
/// say.
inline constexpr auto preempt_grace = 30s;

} // namespace defaults

/// In the answer to a preemption, array of PROC: who was alerted and has not
/// said in time that it is ready.
inline constexpr std::string_view preempt_silent_key = "troupe.preempt.silent";

/// What checkpoints of a DVM have in common; steps share it.
struct checkpoint_state {
  checkpoint_methods declared;
  checkpoint_records records;

  /// Those that are saving their state. One at a time: they say that it is
  /// done, and not which.
  std::set<proc_id> busy;

  /// Jobs that are being ended so that they can start again, or preempted.
  std::set<std::string> ending;
};

using checkpoint_state_ptr = std::shared_ptr<checkpoint_state>;

/// Has the targets, which are processes of one job, save their state, and waits
/// until each says so (PMIX_JCTRL_CHECKPOINT_COMPLETE). If all have, the
/// checkpoint can be started from.
/// Refused with `bad_param` for an empty or too long name and for several jobs,
/// `not_supported` if a process has no method, `resource_busy` if one is saving
/// its state already. Fails with `timeout` and the names of those who have said
/// nothing, or with `error` and those of who ended before.
/// Source: RFC0015, PMIX_JOB_CTRL_CHECKPOINT and its neighbours.
caf::expected<std::shared_ptr<control_step>>
make_checkpoint_step(const control_means& means, const control_order& order,
                     const checkpoint_state_ptr& state);

/// Tells the processes of jobs that these are preempted, and does so once all
/// that are connected have said that they are ready
/// (PMIX_JCTRL_CHECKPOINT_COMPLETE), or the grace is over.
/// Refused with `not_supported` for a job that has not declared that it can be
/// preempted, `bad_param` for parts of a job, for an action that is none, and
/// for `checkpoint` without a name, `resource_busy` if it is being preempted.
/// Source: RFC0015, PMIX_JCTRL_PREEMPT_ALERT; edge case 99.
caf::expected<std::shared_ptr<control_step>>
make_preempt_step(const control_means& means, const control_order& order,
                  const checkpoint_state_ptr& state);

/// Starts a job, or some ranks of it, again from a checkpoint: ends first what
/// of it still runs. Answers with the namespace of the new job (PMIX_NSPACE).
/// With `control_key::in_place` the targets are ended and started again under
/// their names, from a checkpoint of theirs or from the beginning; refused with
/// `not_supported` for jobs that were not started for that, and for checkpoints
/// of the site's hook.
/// Refused with `not_found` for a checkpoint that is not there, `bad_param` for
/// targets that are not of its job and for ranks that cannot end without their
/// job.
/// Source: RFC0015, PMIX_JOB_CTRL_RESTART.
caf::expected<std::shared_ptr<control_step>>
make_restart_step(const control_means& means, const control_order& order,
                  const checkpoint_state_ptr& state);

/// Has the site's hook put an image on nodes.
/// Refused with `not_supported` if there is no hook, `no_permissions` for whom
/// the DVM does not belong to.
/// Source: RFC0015, PMIX_JOB_CTRL_PROVISION, PMIX_JOB_CTRL_PROVISION_IMAGE.
caf::expected<std::shared_ptr<control_step>>
make_provision_step(const control_means& means, const control_order& order);

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

  /// Takes the checkpoints that an earlier DVM has kept.
  /// @returns `bad_param` for what is none.
  caf::error restore(std::string_view kept);

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
