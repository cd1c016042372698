#pragma once

#include "actors/control/control_steps.hpp"
#include "actors/jobs/job_options.hpp"
#include "actors/jobs/job_outcome.hpp"
#include "base/may_act_for.hpp"
#include "messages/event.hpp"
#include "messages/mesh.hpp"

#include <caf/expected.hpp>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace troupe {

/// A node of the DVM.
struct node_record {
  std::string name;

  /// Processes that it takes without being oversubscribed; absent: its daemon
  /// has not said yet.
  std::optional<uint32_t> slots;

  /// Processors that its daemon may use; 0: unknown.
  uint32_t processors = 0;

  /// Processes that it never has more of; 0: any number.
  uint32_t max_slots = 0;
  node_state state = node_state::expected;
  uint64_t incarnation = 0;

  /// Lost incarnations whose processes may still run.
  std::set<uint64_t> unfenced;

  bool takes_work() const {
    return state == node_state::live && slots && unfenced.empty();
  }
};

/// The nodes of a DVM as its root knows them: what they offer to jobs.
class dvm_nodes {
public:
  /// By rank.
  using table = std::map<uint32_t, node_record>;

  dvm_nodes() = default;

  explicit dvm_nodes(table all) : all_(std::move(all)) {
    // nop
  }

  const table& all() const {
    return all_;
  }

  const node_record& at(uint32_t rank) const {
    return all_.at(rank);
  }

  /// `number 3` for a node that nobody has named.
  std::string name_of(uint32_t rank) const;

  /// A daemon says how many processes its node takes; the list of nodes, if it
  /// says so, wins.
  void offer(uint32_t rank, uint32_t slots);

  /// A member has come or gone.
  /// @returns whether the processes of its node are gone.
  bool change(const member_changed& what);

  /// The processes of a lost incarnation run no more.
  void fenced(uint32_t rank, uint64_t incarnation) {
    all_[rank].unfenced.erase(incarnation);
  }

  /// Slots of all nodes that take work.
  uint32_t slots() const;

private:
  table all_;
};

/// News of a job for the launcher that started it.
using job_news = std::variant<job_mapped, proc_changed, job_ended>;

using job_observer = std::function<void(const job_news&)>;

/// A process of a job, as the root knows it.
struct proc_record {
  uint32_t node = 0;
  uint32_t app = 0;
  proc_state state = proc_state::prepped;
  uint32_t pid = 0;
  int32_t exit_code = 0;

  /// How often it has been started again.
  uint32_t restarts = 0;

  bool has_ended() const {
    return state >= proc_state::terminated;
  }
};

/// An exit that fails, and that may follow the end of a process which was
/// killed on another node: the root may hear of the two in either order.
struct held_exit {
  proc_outcome what;

  /// Whether it ends the job.
  bool is_fatal = false;
};

/// Where processes wait for a debugger.
enum class stop_point : uint8_t { in_init, in_app };

/// Processes that a node has to hear of: one call at a time.
struct gone_queue {
  std::vector<proc_ended> waiting;

  /// Called when the node has heard of them, or is lost.
  std::vector<std::function<void()>> heard;
  bool is_telling = false;
};

/// Consequences of a new state of a process for its job.
struct noted_change {
  /// The node does not run the process (attack X41): nothing is noted.
  bool is_foreign = false;

  /// Whether the process had not ended before; if it had, nothing is noted.
  bool is_news = false;

  /// The first process of the job runs.
  bool begins_job = false;

  /// The process goes on without its server.
  bool loses_connection = false;

  /// A life of the process is over, and another one follows.
  bool is_restart = false;

  bool is_end = false;

  /// At the end: whether it has been a process at all.
  bool has_run = false;

  /// Where all that were to stop for a debugger and still run have done so, for
  /// this one has ended.
  std::optional<stop_point> completes_stop;

  /// Whether the job is ended for it, sooner or later.
  bool is_fatal = false;

  /// Whether the job is to be ended now. An exit that is held does so later.
  bool ends_job = false;
};

/// A job, wherever it runs, as the root keeps it: its processes, and the rules
/// by which one of them fails the whole.
struct job_record {
  using completion = std::function<void(caf::expected<spawn_result>)>;

  job_map map;
  job_options options;

  /// The name of each program.
  std::vector<std::string> commands;

  requester parent;

  /// How it was started.
  std::shared_ptr<const recorded_job> recorded;

  /// The process sets that its programs name, until all nodes know them.
  std::vector<define_process_set> sets;

  /// The node that takes the output.
  uint32_t origin = 0;

  /// Whether it, and what it spawns, may have more processes than slots.
  bool oversubscribe = false;

  job_observer observer;
  completion reply;
  spawn_result started;
  job_outcome outcome{""};

  std::vector<proc_record> procs; // by rank

  /// Nodes whose share has not ended.
  std::set<uint32_t> shares;

  /// Nodes that have heard of it.
  std::set<uint32_t> informed;

  std::map<uint32_t, gone_queue> gone;

  /// Events of restarts, by rank and how often it has been restarted, until all
  /// nodes have forgotten the life before.
  std::map<std::pair<uint32_t, uint32_t>, event> untold;

  /// Answers to the current step of the start that are missing.
  size_t pending = 0;
  bool ending = false;
  bool reporting = false;

  /// Who is to stop for a debugger and has not, from the first on that has; and
  /// how the last one called the place. By `stop_point`.
  std::array<std::set<uint32_t>, 2> awaited;
  std::array<std::string, 2> breakpoints;

  /// Whether a process of it has run.
  bool has_begun = false;

  /// Whether a process has failed, which ended the job.
  bool has_failed = false;

  /// Exits to be judged when the other nodes have said who runs there.
  std::vector<held_exit> held;

  /// The number of that question, or of the next one.
  uint64_t inquiry = 0;
  bool inquires = false;

  // -- the start

  /// Answers whoever asked for the job, unless that has been done.
  void answer(caf::expected<spawn_result> what);

  /// The job is ended while it starts: by a process that failed, which is a
  /// start all the same, or by somebody else.
  void cancel();

  /// Puts the processes on their nodes.
  void place(std::vector<node_share> where, const spawn_request& request);

  /// Notes how it is started, once it is placed.
  void record(const spawn_request& request, const dvm_nodes& nodes);

  /// Takes the processors of its processes; a node speaks for no other.
  void bind(uint32_t node, job_map theirs);

  /// What observers are told once it is placed.
  job_mapped mapped(const dvm_nodes& nodes) const;

  // -- its processes

  /// Notes a new state of a process.
  /// @param from The node that says so; it speaks for its own processes only.
  noted_change note(uint32_t from, const proc_changed& what,
                    const dvm_nodes& nodes);

  /// A process says that it waits for a debugger. Who is not to stop is passed
  /// over.
  /// @param breakpoint PMIX_BREAKPOINT.
  /// @returns where, if all that were to stop there have done so.
  std::optional<stop_point> note_stopped(uint32_t rank,
                                         const std::string& breakpoint);

  /// Those of a node that have not ended, as its loss ends them.
  std::vector<proc_changed> lost_with(uint32_t node) const;

  /// The share of a node has ended: so have all its processes.
  /// @returns those that had not.
  std::vector<proc_ended> end_share_of(uint32_t node);

  /// All that have ended.
  std::vector<proc_ended> ended() const;

  /// Those that run and are connected.
  std::vector<proc_id> connected() const;

  /// Whether a node runs this rank, or any rank if it stands for all.
  bool runs_on(uint32_t node, uint32_t rank) const;

  /// What people need to find a process of a job; nothing if it has no such
  /// rank.
  proc_place place_of(uint32_t rank, const dvm_nodes& nodes) const;

  // -- causes: whoever was killed is one, and not the exits of its peers,
  // whichever of them the root hears of first

  /// Who runs where, to be asked of the other nodes before exits of one are
  /// judged: by node.
  std::map<uint32_t, control_procs> questions_except(uint32_t from) const;

  /// Counts the exits that are held, and ends the inquiry.
  /// @returns those that end the job.
  std::vector<proc_id> count_held();

  // -- for those who ask

  job_description describe() const;
  controlled_job controlled() const;

private:
  /// Ascending.
  std::vector<uint32_t> ranks_on(uint32_t node) const;

  bool may_follow(uint32_t from, const proc_changed& what) const;
};

/// Whether somebody may do something to a job.
/// Source: PMIx Standard v5, `PMIx_Abort`: only processes of the requester's
/// own user; and the administrator's word counts, too.
inline bool may_control(const job_record& job, const requester& who) {
  return may_act_for(who, job.parent.creds.uid);
}

} // namespace troupe
