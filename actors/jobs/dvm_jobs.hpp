#pragma once

#include "actors/control/checkpoint_desk.hpp"
#include "actors/control/job_controller.hpp"
#include "actors/data/job_locations.hpp"
#include "actors/groups/connected_sets.hpp"
#include "actors/jobs/job_record.hpp"
#include "actors/jobs/node_mapping.hpp"
#include "actors/jobs/process_sets.hpp"
#include "base/journal.hpp"
#include "messages/mesh.hpp"
#include "messages/topology.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// A job that somebody wants.
struct job_order {
  requester who;
  spawn_request request;

  /// The node that takes the output.
  uint32_t origin = 0;
  bool oversubscribe = false;
  job_observer observer;
  job_record::completion reply;
};

/// The jobs of a DVM at its root: mapped to nodes, started on all of them,
/// ended as a whole. Each step asks the nodes and goes on when all have
/// answered.
///
/// The failure policy of jobs: a process that fails ends its job unless the job
/// is recoverable, and with it the jobs that it is connected to; so does the
/// loss of the node that takes the output. The first cause counts: an exit that
/// may have followed the death of a process on another node waits until that
/// node has said how its processes do. Two signals do not end a job sooner than
/// its shares see fit.
///
/// A plain class: what it wants done are calls of `effects`. These may come
/// before its own calls return, and may call back in.
/// Source: PMIx Standard v5, `PMIx_Spawn`, `PMIx_Abort`, "Connecting and
/// Disconnecting Processes"; RFC0033, "Relation to the RM".
class dvm_jobs {
public:
  /// Since any point that stays the same.
  using time = std::chrono::nanoseconds;

  template <class T>
  using completion = std::function<void(caf::expected<T>)>;

  struct settings {
    /// Namespace of the DVM's server. Those of its jobs are `NAME@1`, `NAME@2`.
    std::string nspace;

    /// What jobs of launchers inherit, `NAME=value`, and where their programs
    /// start that do not say.
    std::vector<std::string> environment;
    std::string working_directory;

    /// Whose DVM it is; absent: of whoever asks.
    std::optional<uint32_t> owner;

    /// Ends the DVM; none: it cannot be ended.
    std::function<void()> on_terminate;

    /// Whether the site has such a hook, and what programs start with that a
    /// hook restores.
    std::function<bool(site_hook)> has_hook;
    std::vector<std::string> restart_command;

    /// The checkpoints of an earlier DVM; may be empty. See
    /// `control_means::keep`.
    std::string checkpoints;
    std::function<void(std::string checkpoints, std::function<void()> then)>
      keep_checkpoints;

    journal log;
  };

  struct effects {
    /// Whether there is a server that can serve jobs.
    std::function<bool()> can_serve;

    /// Asks the host of a node; the root's own is among them.
    std::function<void(uint32_t node, host_question what,
                       completion<host_reply> then)>
      ask;

    /// Members that can be asked, and whether one can.
    std::function<std::vector<uint32_t>()> live;
    std::function<bool(uint32_t node)> is_live;

    std::function<time()> now;
    std::function<void(time delay, std::function<void()> then)> call_later;

    /// Tells the processes of namespaces of an event; some processes; whoever
    /// asks for those of other jobs.
    std::function<void(const event& what,
                       const std::vector<std::string>& audience)>
      raise;
    std::function<void(const event& what, const std::vector<proc_id>& audience)>
      raise_for;
    std::function<void(event copy)> raise_for_askers;

    /// Exactly these processes hear of an event of the system, in the order of
    /// each of their namespaces.
    std::function<void(const event& what, const std::vector<proc_id>& targets,
                       completion<ack> then)>
      notify;

    /// Nodes that watch a new job beside its origin.
    std::function<std::vector<io_watcher>(const job_record& job,
                                          const spawn_request& request)>
      watchers;

    /// A process is gone: what it published, or waits for, is dropped.
    std::function<void(const proc_id& proc)> proc_gone;

    /// A job is over everywhere and forgotten.
    std::function<void(const std::string& nspace)> job_over;
  };

  /// @param nodes  All nodes by rank; the root is 0.
  /// @param places Where jobs run; outlives this.
  dvm_jobs(settings config, dvm_nodes nodes, job_locations& places,
           effects out);

  dvm_jobs(const dvm_jobs&) = delete;
  dvm_jobs& operator=(const dvm_jobs&) = delete;

  // -- from launchers, tools and processes

  /// Maps a job, and starts it.
  void begin(job_order order);

  /// The namespace of the job that begins next.
  std::string next_nspace() const {
    return config_.nspace + "@" + std::to_string(next_job_);
  }

  /// A process or tool of node `from` wants a job.
  void spawn(uint32_t from, requester& who, spawn_request& request,
             completion<spawn_result> done);

  caf::expected<ack> end(const end_job& request);

  /// Ends all jobs. From now on none begins.
  /// @param done Comes when there is none any more.
  void end_all(const end_job& request, completion<ack> done);

  caf::expected<ack> abort(const requester& who, const abort_request& request);

  /// Job control.
  void control(uint32_t from, const requester& who,
               const job_control_request& request,
               completion<info_result> done);

  /// Attack X41: a daemon speaks for its own processes only.
  bool is_foreign(uint32_t from, const proc_id& proc) const;

  job_list list(const list_jobs& request) const;

  // -- from nodes

  /// Where a job runs, for processes of node `from`, which hears from now on
  /// who of it has ended.
  void locate(uint32_t from, const std::string& nspace,
              completion<job_map> done);

  /// @param from The node that says so; it speaks for its own processes only.
  void note_progress(uint32_t from, const share_progress& what);

  /// The share of a node has ended.
  void note_share_ended(uint32_t from, const std::string& nspace) {
    drop_share(nspace, from);
  }

  /// A node says who has connected, or disconnected. X41: it runs one of them.
  caf::expected<ack> note_connection(uint32_t from, connection_changed what);

  /// Whether an event of a process concerns jobs or their control.
  static bool listens_to(status code);

  /// A process has raised an event, maybe such a one.
  void hear(const event& what);

  void offer(uint32_t node, uint32_t slots) {
    nodes_.offer(node, slots);
  }

  /// A member has come or gone; the calls do not know yet. Jobs of a node that
  /// is lost end, unless they go on without it.
  void change_member(const member_changed& what);

  void fenced(uint32_t node, uint64_t incarnation) {
    nodes_.fenced(node, incarnation);
  }

  /// A node has joined: it gets to know all process sets.
  void tell_sets(uint32_t node);

  // -- for those who ask

  job_record* find(const std::string& nspace) {
    const auto i = all_.find(nspace);
    return i != all_.end() ? &i->second : nullptr;
  }

  const std::map<std::string, job_record>& all() const {
    return all_;
  }

  const dvm_nodes& nodes() const {
    return nodes_;
  }

  /// Processes that have not ended, by node.
  std::map<uint32_t, uint32_t> used() const;

  job_controller& controller() const {
    return *control_;
  }

  const checkpoint_desk& checkpoints() const {
    return checkpoints_;
  }

  /// Jobs that have heard of the loss of a node since this was last called.
  std::set<std::string> take_told() {
    return std::exchange(told_of_node_, {});
  }

  /// How full it is.
  std::vector<gauge> gauges() const;

private:
  using object_counts = std::map<uint32_t, uint32_t>;

  const job_record* find(const std::string& nspace) const {
    const auto i = all_.find(nspace);
    return i != all_.end() ? &i->second : nullptr;
  }

  void ask_each(const std::vector<uint32_t>& nodes, const host_question& what,
                std::function<void()> then);

  // The start.
  std::vector<mapping_node> mapping_nodes(const object_counts* objects) const;
  std::vector<uint32_t> oversubscribed(const job_record& job) const;
  caf::error put_beside_target(const requester& who,
                               spawn_request& request) const;
  void limit_start(const std::string& nspace,
                   const std::optional<caf::timespan>& limit);
  void call_at(time when, std::function<bool()> is_wanted,
               std::function<void()> then);
  void count_objects(resource_kind kind,
                     std::function<void(const object_counts&)> then);
  void map(job_record& job, spawn_request& request,
           const object_counts* objects);
  void prepare(job_record& job, spawn_request& request);
  void note_prepared(const std::string& nspace, uint32_t node,
                     caf::expected<job_map> what);
  void start(job_record& job);
  void note_started(const std::string& nspace, uint32_t node,
                    caf::expected<spawn_result> what);
  void give_up(job_record& job, const caf::error& why);
  caf::error blame(const job_record& job, uint32_t node,
                   const caf::error& why) const;

  // What becomes of it.
  struct noted_states;
  noted_states note_states(job_record& job, uint32_t from,
                           const std::vector<proc_changed>& procs);
  void note_restart(job_record& job, const proc_changed& what,
                    noted_states& noted);
  void tell_restarts(job_record& job, uint32_t rank, uint32_t up_to);
  void note_controlled(const std::vector<proc_ended>& gone);
  void lose_node(uint32_t node);
  void inquire(job_record& job, uint32_t from);
  void judge_held(const std::string& nspace, uint64_t inquiry);

  // The end.
  void end_processes(const std::string& nspace, int32_t signal);
  void end_connected(const std::vector<proc_id>& failed);
  void drop_share(const std::string& nspace, uint32_t node);
  void check_over(const std::string& nspace);
  void report_end(job_record& job);
  void close(const std::string& nspace);

  // Who hears of it.
  void inform(job_record& job, uint32_t node);
  void spread(job_record& job, uint32_t from,
              const std::vector<proc_ended>& gone,
              const std::function<void()>& heard = nullptr);
  void tell_gone(const std::string& nspace, uint32_t node);
  std::vector<std::string> audience_of(const job_record& job) const;
  void raise(event what, std::vector<std::string> audience,
             const std::string& told = {});
  void tell_of_process(const job_record& job, const proc_changed& what,
                       bool is_fatal);
  void tell_of_job(const job_record& job, status code);
  void tell_of_stop(const job_record& job, stop_point place);
  void tell_of_failure(const job_record& job,
                       const std::vector<std::string>& connected);
  void tell_of_end(const job_record& job);
  void tell_of_node(const job_record& job, uint32_t node);

  // Control.
  control_means means_of_control();
  caf::error halt(const requester& who) const;
  bool has_been(const std::string& nspace) const;
  void define_set(define_process_set what, completion<ack> then);
  void tell_sets(std::vector<define_process_set> sets,
                 std::function<void()> then);
  void run_hook(uint32_t node, run_site_hook what,
                completion<site_hook_result> then);

  settings config_;
  dvm_nodes nodes_;
  job_locations& places_;
  effects out_;
  std::map<std::string, job_record> all_; // by namespace
  uint32_t next_job_ = 1;

  /// Since the start: jobs that are over, those of them whose exit status is not
  /// 0, and lives of processes that followed another one.
  uint64_t jobs_ended_ = 0;
  uint64_t jobs_failed_ = 0;
  uint64_t restarts_ = 0;

  /// Who waits for the end of all jobs; then no new one begins.
  std::vector<completion<ack>> closing_;
  bool is_closing_ = false;

  /// Processes of several jobs that are connected.
  connected_sets connected_;
  process_sets sets_;

  /// What processes have declared, and the checkpoints that they have saved.
  checkpoint_desk checkpoints_;
  std::unique_ptr<job_controller> control_;
  std::set<std::string> told_of_node_;
};

/// Whether the root asks a node how many objects it has of each kind, for
/// mappings that depend on it, and the answer: one info per kind.
bool is_objects_question(const ask_root& what);
info_result count_objects(const node_topology& found);

} // namespace troupe
