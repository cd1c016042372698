#include "actors/control/checkpoint_desk.hpp"

namespace troupe {

void checkpoint_desk::join(job_controller& controller) {
  const auto with_state = [state = state_](auto make) {
    return [state, make](const control_means& x, const control_order& y) {
      return make(x, y, state);
    };
  };
  controller.offer(control_verb::checkpoint, with_state(make_checkpoint_step));
  controller.offer(control_verb::preempt, with_state(make_preempt_step));
  controller.offer(control_verb::restart, with_state(make_restart_step));
  controller.offer(control_verb::provision, make_provision_step);
}

caf::error checkpoint_desk::declare(const requester& who,
                                    const control_directives& what,
                                    bool is_of_job) {
  if (!is_of_job)
    return make_error(status::bad_param,
                      to_string(who.proc)
                        + " belongs to no job: only processes of jobs declare "
                          "checkpoint methods");
  return state_->declared.declare(who.proc, what);
}

void checkpoint_desk::procs_ended(const std::vector<proc_id>& procs) {
  for (const auto& x : procs)
    state_->declared.proc_ended(x);
}

void checkpoint_desk::job_over(const std::string& nspace) {
  state_->declared.job_ended(nspace);
}

std::vector<gauge> checkpoint_desk::gauges() const {
  return {{"checkpoint.declared", state_->declared.size(),
           defaults::checkpoint_declarers, "processes"},
          {"checkpoint.kept", state_->records.size(),
           defaults::checkpoints_kept, "checkpoints"}};
}

} // namespace troupe
