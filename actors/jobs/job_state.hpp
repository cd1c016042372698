#pragma once

// The inside of the JOB actor: shared by actors/job*.cpp only.

#include "actors/answer.hpp"
#include "actors/jobs/cleanup_request.hpp"
#include "actors/jobs/job.hpp"
#include "actors/reminders.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <functional>
#include <optional>

namespace troupe::job_internals {

/// One process of the share.
struct member {
  uint32_t rank = 0;
  proc_state state = proc_state::prepped;
  uint32_t pid = 0;
  bool connected = false;
  bool finalized = false;

  /// Whether its connection broke.
  bool lost = false;

  /// How it ended, if that cannot be judged yet.
  std::optional<process_ended> end;

  /// Whether it has failed by an exit, which may follow the loss of a peer
  /// whose end is not known yet.
  bool may_follow = false;

  /// How often it has connected.
  uint32_t connections = 0;
  bool called_abort = false;
  bool drained = false;

  /// Whether it stands still because somebody wants it to.
  bool is_paused = false;

  /// Whether somebody wants its end: then that is no failure.
  bool told_to_end = false;

  bool is_running() const {
    return state >= proc_state::running && state <= proc_state::connected;
  }

  bool has_ended() const {
    return state >= proc_state::terminated;
  }
};

struct job_state_data {
  static inline const char* name = "job";

  job_state_data() = default;

  job_state_data(const job_state_data&) = delete;

  job_state_data& operator=(const job_state_data&) = delete;

  ~job_state_data() {
    if (context.descriptors)
      context.descriptors->give_back(nspace());
  }

  job_context context;
  job_directory directory;
  journal log;

  prepare_share order;
  job_options options;
  job_plan plan;
  answer<job_map> prepared;
  answer<spawn_result> started;

  /// As in the plan: in the order of their ranks.
  std::vector<member> members;
  reminders waits;

  /// What goes when the share has ended.
  cleanup_list leftovers;

  /// Who waits for the ends of processes that have lost their connections.
  std::vector<std::function<void()>> once_known;

  /// Whether the processes have been told to end.
  bool ending = false;

  /// Whether what they left behind is being removed.
  bool sweeping = false;
  bool swept = false;

  /// Whether the end has been reported.
  bool over = false;

  const std::string& nspace() const {
    return order.map.nspace;
  }

  member* find(const proc_id& proc) {
    if (proc.nspace != nspace())
      return nullptr;
    const auto i = std::lower_bound(
      members.begin(), members.end(), proc.rank,
      [](const member& x, uint32_t rank) { return x.rank < rank; });
    return i != members.end() && i->rank == proc.rank ? &*i : nullptr;
  }
};

TROUPE_SELF_POINTER(job_actor, job_state_data);

inline proc_id proc_of(const job_state_data& state, const member& x) {
  return {state.nspace(), x.rank};
}

// -- job.cpp
// -----------------------------------------------------------------------

/// Tells the host what state a process is in.
void report(self_pointer self, const member& x, int32_t exit_code = 0,
            int32_t signal = 0);

/// Calls `then` when it is known how the processes ended that have lost their
/// connections; soon in any case.
void when_ends_are_known(self_pointer self, std::function<void()> then);

/// Reports the end when all processes have ended, and nothing is left of them.
void finish_if_over(self_pointer self);

// -- job_control.cpp
// -----------------------------------------------------------------------

/// Signals, pauses, resumes or ends some of the processes.
caf::result<procs_controlled> control(self_pointer self,
                                      const control_procs& what);

/// Processes go on, whoever made them stand still.
void note_resumed(self_pointer self, const std::vector<uint32_t>& ranks);

// -- job_start.cpp
// -----------------------------------------------------------------

/// Binds the processes and makes the job known to the server.
caf::result<job_map> prepare(self_pointer self, prepare_share& order);

/// Starts the processes one after another.
caf::result<spawn_result> start(self_pointer self);

} // namespace troupe::job_internals
