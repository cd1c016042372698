#pragma once

#include "actors/groups/connected_sets.hpp"
#include "actors/server/collective_table.hpp"
#include "actors/server/meeting_door.hpp"
#include "actors/server/memory_fences.hpp"
#include "actors/server/part_meetings.hpp"
#include "actors/server/registry.hpp"
#include "actors/server/wait_report.hpp"
#include "base/journal.hpp"
#include "base/pass_on.hpp"
#include "base/trace_ring.hpp"
#include "messages/group.hpp"

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// After how long a server asks whether an operation has failed elsewhere that
/// processes of its node have not all joined.
inline constexpr auto collective_watch = 100ms;

} // namespace defaults

/// The collective operations of a node: collects the calls of the participants,
/// has the host join them with those of other nodes, and gives everybody the
/// same outcome, once. An operation of this node alone is over when all have
/// joined; the host hears of it only if it changes which jobs are connected.
/// Source: PMIx Standard v5, `PMIx_Fence`, `PMIx_Connect`; guarantees P-C1,
/// COLL-1 to COLL-5.
class collectives {
public:
  struct effects {
    /// Has the host join the participants of this node with others.
    std::function<void(host_collective, completion<host_collective_result>)>
      ask_host;

    std::function<void(caf::timespan, std::function<void()>)> call_later;

    /// Keeps what processes of other nodes have posted.
    std::function<void(std::vector<proc_data>)> store;

    /// The group of this name that a process is a member of.
    std::function<std::optional<group_key>(const proc_id&, const std::string&)>
      find_group;

    journal log;

    /// Remembers what becomes of operations; null: nothing does.
    std::shared_ptr<trace_ring> trace = {};

    /// Says how long operations are under way; empty: nobody asks.
    std::function<std::chrono::steady_clock::time_point()> now = {};
  };

  /// @param spans_nodes Whether the host has all nodes agree when an operation
  ///                    fails.
  /// @param most Operations in flight at a time (L18).
  collectives(registry& known, bool spans_nodes, size_t most, effects out);

  /// A process joins the operation that its call belongs to, or begins one.
  /// @param procs All participants; none: the job of the caller.
  /// @param reply Gets the outcome; for a connect, the jobs of the others.
  void join(const requester& who, collective_kind kind,
            std::vector<proc_id> procs, const std::vector<info>& directives,
            completion<connect_procs_result> reply);

  /// A process has connected that shares memory: once all of a job do, its
  /// fences go on there, without a word to us. So do those of parts of a job, if
  /// they have asked us for some before.
  /// @param is_first Whether it is the only one of its rank.
  void share(const proc_id& proc, bool is_first);

  /// Fails the operations that wait for `proc`, or has them go on without it.
  void leave(const proc_id& proc, const std::string& reason);

  /// A process begins anew: operations that wait for others of this node wait for
  /// it again, though its former life had joined.
  void renew(const proc_id& proc);

  /// Members have left a group: fences over it that are fault tolerant go on
  /// without them, others fail.
  /// Source: RFC0033, Group_leave; readings A33, A34.
  void reduce(const group_changed& what);

  /// A group is over.
  void forget(const group_key& group) {
    table_.forget(group);
  }

  /// A namespace is gone.
  void forget(const std::string& nspace);

  /// Operations in flight.
  size_t size() const {
    return open_.size();
  }

  /// Sets of participants whose operations are counted.
  size_t counted() const {
    return table_.counted();
  }

  /// Parts of jobs whose fences may go on without us.
  size_t parts() const {
    return parts_.size();
  }

  /// How many of them have, roughly.
  uint64_t fences_of_parts() const {
    return parts_.fences();
  }

  /// Operations under way that have not failed, as this node sees them: those that
  /// processes have asked for, and fences of this node alone that wait for somebody
  /// in memory.
  std::vector<wait_part> waits();

  /// Sets of processes that are connected, as far as some of them are here.
  const connected_sets& connected() const {
    return connected_;
  }

private:
  using operation = collective_table::operation;

  /// A call that waits for the outcome.
  struct call {
    std::string nspace;
    completion<connect_procs_result> reply;
  };

  /// What the table does not know of an operation.
  struct entry {
    std::vector<call> calls;
    std::vector<info> directives;
    bool has_deadline = false;

    /// Whether those who had ended before it began have been dropped.
    bool checked = false;

    /// Who left when others of it had met already.
    std::vector<proc_id> departed;

    /// Why it failed, once it has.
    caf::error failure;

    /// The round of the memory in which all of this node have joined it.
    std::optional<uint32_t> round{};

    /// What it is called in the trace.
    trace_id name{};

    /// When it was begun.
    std::chrono::steady_clock::time_point since{};
  };

  /// Whether the processes of a job meet in fences by themselves, in the memory
  /// that they share with us. Who cannot or may not, as for the sake of a
  /// directive, asks us; then all others are asked to do so as well. No process
  /// does both at a time, so that its n-th call is in the n-th fence for all.
  struct meeting {
    meeting_door door{};

    /// Who left while others met: the fence that these ask for had begun before.
    std::vector<proc_id> departed;

    /// The round in which they all wait for other nodes, and its operation.
    std::optional<uint32_t> round{};
    uint64_t operation = 0;

    /// The round of which each has to ask us by itself: it was closed before
    /// we heard that all were there.
    std::optional<uint32_t> given_up{};

    /// What became of the last round that waited for other nodes. Who could not
    /// see it asks us; nobody is in another one before he has.
    std::optional<uint32_t> last_round{};
    caf::error last_failure{};
  };

  /// Lets the processes of a job meet by themselves, if all can. @pre none of
  /// them is in a fence of the job.
  void open_meeting(const std::string& nspace);

  /// @returns whether processes have come there that others did not join yet.
  bool close_meeting(const std::string& nspace);

  /// The same when a process asks us for a fence over its job.
  /// @param is_of_round Whether it has arrived there before.
  void interrupt_meeting(const std::string& nspace, bool is_of_round);

  /// The same for a fence over any processes.
  void interrupt(const std::vector<proc_id>& procs, bool is_of_round);

  /// Who left while processes met that now ask us for a fence.
  std::vector<proc_id> take_departed(const std::vector<proc_id>& procs);

  /// All have asked us for a fence: from now on they may meet by themselves.
  void note_fence(const std::vector<proc_id>& procs);

  /// Whether all processes of a job on this node share memory, and are more than
  /// one, or all of the job.
  static bool can_meet(const namespace_entry& entry);

  /// Handles a call of a process that has arrived in a round of the memory: they
  /// have all come, or something has kept it from waiting there.
  /// @returns whether that was all; if not, it joins as others do, and so do all
  ///          that were in that round.
  bool join_round(const proc_id& caller, uint32_t round,
                  completion<connect_procs_result>& reply);

  /// An operation is over in which processes met: lets them go, or has them
  /// ask us.
  void end_round(const entry& x, const std::string& nspace,
                 const caf::error& why);

  /// Whether a call is a fence over the whole of one job.
  static bool is_of_job(collective_kind kind,
                        const std::vector<proc_id>& procs);

  /// Why a call may not take part, if so.
  caf::error refusal(const requester& who,
                     const std::vector<proc_id>& procs) const;

  /// Why an operation on connections cannot begin, if so.
  /// Source: PMIx Standard v5, `PMIx_Disconnect`.
  caf::error connection_refusal(collective_kind kind,
                                const std::vector<proc_id>& procs) const;

  /// Why an operation of this node alone cannot begin, if it requires what only
  /// a host could do: the host is not asked for it. Of connections between jobs
  /// it is, also if all are here.
  /// Source: PMIx Standard v5, PMIX_INFO_REQD.
  caf::error unasked_refusal(collective_kind kind,
                             const std::vector<proc_id>& procs,
                             const std::vector<info>& directives) const;

  /// Whether a fence over connected processes ends their connection.
  bool disconnects(const operation& x) const;

  /// Notes what an operation that has succeeded means for connections.
  void note_connection(const operation& x);

  std::chrono::steady_clock::time_point now() const;

  /// Fences in memory, all of whose processes are on this node, that wait for
  /// somebody.
  std::vector<memory_fence> memory_waits() const;

  /// What an operation is called in the trace; nothing if there is none.
  trace_id name_of(const operation& x) const;

  /// Notes a step of an operation.
  void note(const entry& x, trace_step what, size_t detail = 0,
            status code = status::success) const;

  /// What local participants have posted for others.
  std::vector<proc_data> contributions(const operation& x) const;

  std::vector<job_info> jobs_of(const std::vector<proc_id>& procs) const;

  /// Goes on with an operation if nobody of this node is missing.
  void check_complete(uint64_t id);

  /// All participants of this node have joined.
  void complete(const operation& x);

  /// The operation has succeeded.
  void succeed(uint64_t id, const std::vector<job_info>& jobs);

  void fail_calls(entry& x, caf::error why);

  /// The operation is over.
  void retire(uint64_t id);

  /// The operation has failed: tells whoever has joined it here.
  void conclude(uint64_t id, status code, const std::string& why);

  /// Tells the host that not all participants of this node have joined.
  void tell_host(const operation& x, status code, const std::string& why);

  /// The operation cannot complete. If other nodes take part, it fails when all
  /// agree on it: it may have been decided already.
  void fail(operation& x, status code, const std::string& why);

  /// Asks the host to be told if operations fail for which processes of this
  /// node are missing. Most are over before it comes to that.
  void watch();

  void time_out(uint64_t id);

  registry& known_;
  bool spans_nodes_;
  size_t most_;
  effects out_;
  collective_table table_;
  std::map<uint64_t, entry> open_;
  connected_sets connected_;
  std::map<std::string, meeting> meetings_; // by namespace
  part_meetings parts_;
  memory_fences in_memory_;

  /// Whether a look at the operations that are not complete is due.
  bool is_watch_due_ = false;
};

} // namespace troupe
