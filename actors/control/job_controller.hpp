#pragma once

#include "actors/control/control_steps.hpp"
#include "messages/gauge.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace troupe {

/// Job control for a whole DVM, at its root: reads requests, works out whom
/// they are for, carries them out step by step, keeps their states, and answers
/// each once when it is over. What a verb does is a `control_step`; verbs that
/// nobody offers are refused with `not_supported`.
///
/// A request is refused as a whole, with nothing done, for whatever is wrong
/// with it; what happens later is in its result: accepted is not done.
/// A cancel is for the requester's own requests, unless it says otherwise
/// (`control_key::user`).
///
/// A tool of the DVM's owner that has no job ends the DVM by terminate or kill
/// without targets; nobody else does.
///
/// Source: RFC0015, Job Control; PMIx Standard v5, `PMIx_Job_control`;
/// guarantees 5.8.
class job_controller {
public:
  using time = control_means::time;

  /// How a request ends.
  using completion = std::function<void(control_result)>;

  /// What processes declare of themselves.
  /// @returns an error to refuse it.
  using declaration_handler = std::function<caf::error(
    const requester& who, const control_directives& what)>;

  explicit job_controller(control_means means, control_limits bounds = {});

  job_controller(const job_controller&) = delete;
  job_controller& operator=(const job_controller&) = delete;

  ~job_controller();

  // -- what it can do --

  /// From now on requests may have this verb. Pause, resume, signal, terminate,
  /// kill and the definition of sets are there from the start.
  void offer(control_verb what, control_step_maker maker);

  /// Who takes declarations (PMIX_JOB_CTRL_PREEMPTIBLE and _CHECKPOINT_METHOD);
  /// nobody: they are refused with `not_supported`.
  void take_declarations(declaration_handler handler);

  /// Whether an event has to reach the controller whatever its range:
  /// PMIX_JCTRL_CHECKPOINT_COMPLETE.
  static bool listens_to(status code);

  // -- from the host --

  /// A request.
  /// @param node The requester's.
  void request(const requester& who, uint32_t node,
               const job_control_request& what, completion done);

  /// A process has raised such an event.
  void hear(const event& what);

  /// Processes are no more.
  void procs_ended(const std::vector<proc_id>& procs);

  /// A job is over everywhere.
  void job_over(const std::string& nspace);

  /// The states of requests, as `control_key::status` has them.
  /// @param id      None: all.
  /// @param of_user Not only those of `who`, but of its user; of root's
  ///                everybody's.
  /// @returns `not_found` if there is an id and no such request.
  caf::expected<value> describe(const requester& who,
                                const std::optional<std::string>& id,
                                bool of_user = false);

  /// How full it is.
  std::vector<gauge> gauges() const;

private:
  struct state;

  std::shared_ptr<state> state_;
};

} // namespace troupe
