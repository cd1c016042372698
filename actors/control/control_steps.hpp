#pragma once

#include "actors/control/control_directives.hpp"
#include "actors/control/control_table.hpp"
#include "actors/control/control_targets.hpp"
#include "base/journal.hpp"
#include "messages/event.hpp"
#include "messages/host.hpp"
#include "messages/job.hpp"
#include "messages/site_hook.hpp"
#include "messages/spawn.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace troupe {

/// How a job was started: enough to start it again.
struct recorded_job {
  spawn_request request;
  credentials owner;

  /// The names of the nodes that its processes run on, by rank.
  std::vector<std::string> hosts;

  /// The program of each process, by rank: an index into the request's.
  std::vector<uint32_t> apps;

  /// Whether it goes on without some of its processes.
  bool is_recoverable = false;

  /// Whether its processes can be started again where they run.
  bool restarts_in_place = false;
};

/// What control works with: the root's MESH HOST gives it. Nothing here blocks;
/// each `then` is called exactly once, perhaps before the call returns.
struct control_means {
  using time = std::chrono::nanoseconds;

  template <class T>
  using completion = std::function<void(caf::expected<T>)>;

  /// Steady time.
  std::function<time()> now;

  std::function<void(time delay, std::function<void()> then)> call_later;

  /// Does something to processes of one node, at most once.
  /// @param then Gets the ranks that it was done to; `unreach` if the node is
  ///             lost: then it is unknown whether it was done.
  std::function<void(uint32_t node, control_procs what,
                     completion<procs_controlled> then)>
    act;

  /// Ends a job as a whole, with all that goes with it. Its end comes as
  /// `job_over`.
  std::function<void(const end_job& how)> end;

  /// Ends the DVM. @returns why not.
  std::function<caf::error(const requester& who)> halt;

  /// Raises an event of the system.
  /// @param targets Whom it is for; namespaces as a whole may be among them.
  /// @param then    Comes when the nodes that host them have it.
  std::function<void(const event& what, std::vector<proc_id> targets,
                     completion<ack> then)>
    raise;

  /// Starts a job again, for the user of the request.
  std::function<void(const requester& who, spawn_request what,
                     completion<spawn_result> then)>
    spawn;

  /// Makes processes known as a set on all nodes.
  std::function<void(define_process_set what, completion<ack> then)> define_set;

  control_lookup lookup;

  // -- for checkpoints, restart, preemption and provision --

  /// How a job was started; null for one that is not there.
  std::function<std::shared_ptr<const recorded_job>(const std::string& nspace)>
    record;

  /// Those processes of a job that run and are connected: the others hear no
  /// event.
  std::function<std::vector<proc_id>(const std::string& nspace)> connected;

  /// Whether the site has such a hook.
  std::function<bool(site_hook)> has_hook;

  /// Runs it on a node. The environment of a process's hook has its number.
  std::function<void(uint32_t node, run_site_hook what,
                     completion<site_hook_result> then)>
    run_hook;

  /// What the programs of a job start with that is restored by the site's hook;
  /// none: there is no such hook.
  std::vector<std::string> restart_command;

  /// Keeps all checkpoints for the next DVM; empty: they end with this one.
  /// @param then Comes when they are safe, or cannot be kept.
  std::function<void(std::string checkpoints, std::function<void()> then)> keep;

  /// Whether this is the owner of the whole DVM, or root.
  std::function<bool(const requester& who)> is_administrator;

  journal log;
};

/// What a step is made for.
struct control_order {
  requester who;

  /// The requester's node.
  uint32_t node = 0;
  control_directives directives;

  /// As they were named. Who starts a job again, or provides nodes, does
  /// nothing to processes that run: nobody looks these up for it.
  std::vector<proc_id> named;
  control_targets targets;
};

/// One of the things that a request does, in its turn: acts at once or takes
/// its time. Lives until it is done or cancelled; what it is told later does
/// nothing, if it passes its callbacks through `guard`.
class control_step : public std::enable_shared_from_this<control_step> {
public:
  /// To be called once. Infos and processes of all steps of a request are put
  /// together; the first that fails ends the request.
  using completion = std::function<void(control_result)>;

  virtual ~control_step() = default;

  /// Begins.
  virtual void begin(completion done) = 0;

  /// The request is given up: what has not happened yet does not happen.
  /// @returns what has been done.
  virtual control_result cancel() = 0;

  /// What has been done so far, for those who ask.
  virtual control_result progress() const {
    return {};
  }

  /// A process has raised an event that control listens to: see
  /// `job_controller::listens_to`. The source is who it says.
  virtual void hear(const event&) {
    // nop
  }

  /// These processes are no more, wherever they ran.
  virtual void procs_ended(const std::vector<proc_id>&) {
    // nop
  }

  /// A job is over everywhere, and what it left behind is gone.
  virtual void job_over(const std::string& /*nspace*/) {
    // nop
  }

protected:
  /// A function that does nothing once the step is gone.
  template <class F>
  auto guard(F f) {
    return [weak = weak_from_this(), f = std::move(f)](auto&&... xs) mutable {
      if (const auto alive = weak.lock())
        f(std::forward<decltype(xs)>(xs)...);
    };
  }
};

/// Makes a step of a request; refuses the request before any of it is done.
using control_step_maker =
  std::function<caf::expected<std::shared_ptr<control_step>>(
    const control_means& means, const control_order& order)>;

/// Signals, pauses, resumes or restarts the targets: done when every node has
/// answered.
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
