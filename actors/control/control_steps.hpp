#pragma once

#include "actors/control/control_step.hpp"

namespace troupe {

/// Signals, pauses or resumes the targets: done when every node has answered.
/// Source: PMIx Standard v5, PMIX_JOB_CTRL_SIGNAL, _PAUSE, _RESUME.
caf::expected<std::shared_ptr<control_step>>
make_act_step(const control_means& means, const control_order& order,
              control_action action);

/// Ends the targets: with SIGTERM, and SIGKILL after the grace, or with SIGKILL
/// at once. Done when they are gone, and a job that was named as a whole with
/// all that it left behind; a time-out with their names
/// `defaults::control_end_wait` after they were killed. Cancelled during the
/// grace, processes are not killed; a job as a whole ends all the same.
/// Source: PMIx Standard v5, PMIX_JOB_CTRL_TERMINATE, _KILL.
caf::expected<std::shared_ptr<control_step>>
make_end_step(const control_means& means, const control_order& order,
              control_action action);

/// The targets become a process set.
/// Source: OpenPMIx, PMIX_JOB_CTRL_DEFINE_PSET.
caf::expected<std::shared_ptr<control_step>>
make_set_step(const control_means& means, const control_order& order);

} // namespace troupe
