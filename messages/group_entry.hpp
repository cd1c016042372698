#pragma once

#include "messages/event.hpp"
#include "messages/group.hpp"
#include "messages/host.hpp"
#include "messages/runs.hpp"

#include <memory>
#include <optional>
#include <tuple>
#include <variant>

// What happens to a group. All nodes that have members learn it in one order,
// the *log* of the group, and draw the same conclusions from it: what a group
// becomes is a function of its log alone. On one node the log is the order in
// which things happen; over several, a host keeps it like the order of a
// namespace's events (messages/event_order.hpp).
// Source: guarantees 5.6, GRP-1 to GRP-5.

namespace troupe {

/// Which group. The identifier alone does not say: processes that have nothing
/// to do with each other may use the same one.
struct group_key {
  std::string id;

  /// Stands for those who are named when the group begins, whatever their
  /// order; 0: nobody is (bootstrap).
  uint64_t participants = 0;

  /// Counts the groups of this identifier and these participants, from 1, on
  /// all nodes alike; or stands for an invitation.
  uint64_t generation = 0;
};

TROUPE_MESSAGE(group_key, x.id, x.participants, x.generation)

inline bool operator<(const group_key& x, const group_key& y) {
  return std::tie(x.id, x.participants, x.generation)
         < std::tie(y.id, y.participants, y.generation);
}

/// A collective operation on a group.
enum class group_operation : uint8_t { construct, destruct };

/// A process has called a collective operation on the group.
struct group_caller {
  proc_id proc;
  std::vector<info> directives;

  /// What it has posted for others; none if they are all on its node.
  std::vector<key_value> posted;

  /// So many have called, the ranks in a row from that of `proc` on, with the
  /// same directives; those of several have posted nothing.
  uint32_t count = 1;
};

TROUPE_MESSAGE(group_caller, x.proc, x.directives, x.posted, x.count)

/// Processes have called, all with the same participants: those of one node, or
/// of several that have been put together on the way to the home.
struct group_calls {
  group_operation operation = group_operation::construct;

  /// As the callers named them, in their order; none in a destruct.
  std::vector<proc_id> procs;
  std::vector<group_caller> callers;
};

TROUPE_INSPECT(group_calls, x.operation, in_runs<Inspector>(x.procs), x.callers)
TROUPE_EQUAL(group_calls, x.operation, x.procs, x.callers)

/// What members have posted for others, once a group by invitation has all its
/// members. To a SERVER without entries, it asks for those of local processes.
struct group_data {
  std::vector<proc_data> procs;
};

TROUPE_MESSAGE(group_data, x.procs)

/// Processes of one node have ended, or their node is lost.
struct group_procs_ended {
  std::vector<proc_ended> procs;
};

TROUPE_MESSAGE(group_procs_ended, x.procs)

/// A member leaves. Source: RFC0033, Group_leave.
struct group_departure {
  proc_id proc;
};

TROUPE_MESSAGE(group_departure, x.proc)

/// The time for something is up: the first to say so is believed.
struct group_time_up {
  group_operation operation = group_operation::construct;

  /// What waits, counted by the group: 0 is the construction; what comes later,
  /// operations and questions to handlers, counts from 1.
  uint64_t round = 0;
};

TROUPE_MESSAGE(group_time_up, x.operation, x.round)

/// The group cannot be: one of its participants has a group of this name with
/// others, or names a different set of participants.
struct group_conflict {
  proc_id proc;
  status code = status::error;
  std::string reason;
};

TROUPE_MESSAGE(group_conflict, x.proc, x.code, x.reason)

/// A participant has raised an event of the group: an invitation, its answer,
/// its end, an abort, a leader.
struct group_notice {
  proc_id source;
  notify_request what;
};

TROUPE_MESSAGE(group_notice, x.source, x.what)

/// What the handlers of a participant decided about an event that asks them:
/// another leader, a replacement, a smaller group, an abort, or nothing.
struct group_verdict {
  proc_id proc;

  /// Which question, as the event said.
  uint64_t round = 0;

  /// The status with which the handlers ended, and all their results.
  status outcome = status::no_action_taken;
  std::vector<info> results;
};

TROUPE_MESSAGE(group_verdict, x.proc, x.round, x.outcome, x.results)

struct group_verdicts {
  std::vector<group_verdict> verdicts;
};

TROUPE_MESSAGE(group_verdicts, x.verdicts)

/// The host's answer where a host of its own conducts groups.
struct group_host_outcome {
  group_operation operation = group_operation::construct;
  status code = status::success;
  std::vector<info> infos;
};

TROUPE_MESSAGE(group_host_outcome, x.operation, x.code, x.infos)

/// All there is to know of a group, for nodes that join its log: those of
/// members that were added. Others pass over it.
struct group_snapshot {
  std::string state;
};

TROUPE_MESSAGE(group_snapshot, x.state)

/// One thing that happens to a group.
using group_step =
  std::variant<group_calls, group_data, group_procs_ended, group_departure,
               group_time_up, group_conflict, group_notice, group_verdicts,
               group_host_outcome, group_snapshot>;

/// An entry of a group's log.
struct group_entry {
  group_key group;

  /// Who is named when the group begins, wildcards as they were written; in
  /// later entries, none.
  std::vector<proc_id> participants;
  group_step what;

  /// What the group may have as its context id: no other group of the DVM has
  /// it. 0: nothing is offered.
  uint64_t context_id = 0;
};

TROUPE_INSPECT(group_entry, x.group, in_runs<Inspector>(x.participants), x.what,
               x.context_id)
TROUPE_EQUAL(group_entry, x.group, x.participants, x.what, x.context_id)

// -- with the host ------------------------------------------------------------

/// To the host: where these processes run.
struct locate_procs {
  std::vector<proc_id> procs;
};

TROUPE_MESSAGE(locate_procs, x.procs)

/// Wildcards spelt out, in the order of the question.
struct proc_places {
  struct place {
    proc_id proc;

    /// The rank of its node; nothing if that is lost.
    std::optional<uint32_t> node;
  };

  std::vector<place> procs;

  /// The rank of the node that is asked.
  uint32_t here = 0;
};

TROUPE_MESSAGE(proc_places::place, x.proc, x.node)
TROUPE_MESSAGE(proc_places, x.procs, x.here)

/// To the host: gives an entry its place in the log of its group. Answered when
/// all live nodes of the log have it; `unreach` if there is none.
struct order_group_entry {
  group_entry entry;

  /// The nodes that keep the log, ascending; none: all members of the DVM.
  std::vector<uint32_t> hosts;

  /// Whether it may wait a moment for what others have to say.
  bool may_wait = false;
};

TROUPE_MESSAGE(order_group_entry, x.entry, x.hosts, x.may_wait)

/// From the host: the next entry of the log. Answered when it is carried out.
struct group_entry_ordered {
  group_entry entry;
  std::vector<uint32_t> hosts;
};

TROUPE_MESSAGE(group_entry_ordered, x.entry, x.hosts)

/// To the host: more nodes keep the log from the next entry on.
struct extend_group_log {
  group_key group;
  std::vector<uint32_t> hosts;
};

TROUPE_MESSAGE(extend_group_log, x.group, x.hosts)

/// To the host: the group is over; nothing of its log is needed any more.
struct close_group_log {
  group_key group;
};

TROUPE_MESSAGE(close_group_log, x.group)

/// From the host: a node is lost, with the processes on it.
struct host_node_lost {
  uint32_t rank = 0;
};

TROUPE_MESSAGE(host_node_lost, x.rank)

/// To a host that conducts groups itself: all local participants have called.
/// Source: PMIx Standard v5, `pmix_server_grp_fn_t`; reading A38.
struct host_group {
  group_operation operation = group_operation::construct;
  std::string id;
  std::vector<proc_id> procs;
  std::vector<info> directives;
};

TROUPE_MESSAGE(host_group, x.operation, x.id, x.procs, x.directives)

// -- on the node --------------------------------------------------------------

/// To sessions: the members of a group that their process may name from now on,
/// in the order of their ranks; null: it may no longer.
struct group_known {
  std::string id;
  std::shared_ptr<const std::vector<proc_id>> members;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, group_known& x) {
  auto members = x.members ? std::optional{*x.members}
                           : std::optional<std::vector<proc_id>>{};
  if constexpr (Inspector::writes_state) {
    if (auto err = f(x.id, members))
      return err;
    x.members =
      members
        ? std::make_shared<const std::vector<proc_id>>(std::move(*members))
        : nullptr;
    return caf::none;
  } else {
    return f(caf::meta::type_name("troupe.group_known"), x.id, members);
  }
}

/// From a GROUP TRACKER: who may name the group has changed.
struct group_changed {
  group_key group;

  /// The members on all nodes, in the order of their ranks. Local processes
  /// that were among them and are not any more may no longer name it. Null:
  /// it is no group.
  std::shared_ptr<const std::vector<proc_id>> members;

  /// Local processes that have done with the group: they may use its
  /// identifier anew.
  std::vector<proc_id> released;

  /// Who has left or ended since, on any node: collectives that are fault
  /// tolerant go on without them.
  std::vector<proc_id> departed;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, group_changed& x) {
  auto members = x.members ? std::optional{*x.members}
                           : std::optional<std::vector<proc_id>>{};
  if constexpr (Inspector::writes_state) {
    if (auto err = f(x.group, members, x.released, x.departed))
      return err;
    x.members =
      members
        ? std::make_shared<const std::vector<proc_id>>(std::move(*members))
        : nullptr;
    return caf::none;
  } else {
    return f(caf::meta::type_name("troupe.group_changed"), x.group, members,
             x.released, x.departed);
  }
}

/// From a GROUP TRACKER: the group is complete and nothing about it is open. If
/// nothing is under way to the tracker it is let go, and another one goes on from
/// its state when something happens.
struct group_rests {
  group_key group;

  /// How many messages the tracker has taken.
  uint64_t taken = 0;

  /// For trackers alone: see `group_tracker_options::rest`.
  std::string state;
};

TROUPE_MESSAGE(group_rests, x.group, x.taken, x.state)

/// From a GROUP TRACKER: nothing of the group is left.
struct group_over {
  group_key group;
};

TROUPE_MESSAGE(group_over, x.group)

/// Who of these has registered for events with this code? Default handlers do
/// not count.
struct find_listeners {
  status code = status::success;
  std::vector<proc_id> procs;
};

TROUPE_MESSAGE(find_listeners, x.code, x.procs)

struct event_listeners {
  std::vector<proc_id> procs;
};

TROUPE_MESSAGE(event_listeners, x.procs)

/// How a group stands.
enum class group_phase : uint8_t {
  inviting,
  constructing,
  complete,
  destructing,
  over,
};

struct get_group_status {};

TROUPE_EMPTY_MESSAGE(get_group_status)

/// A group as a node sees it; for queries and tools.
struct group_status {
  group_key group;
  group_phase phase = group_phase::constructing;

  /// In the order of their ranks; participants while it is no group yet.
  std::vector<proc_id> members;
  std::vector<proc_id> leaders;

  /// Those that a collective operation or an invitation waits for.
  std::vector<proc_id> missing;
  std::optional<uint64_t> context_id;

  /// How many entries of its log have been carried out.
  uint64_t entries = 0;
};

TROUPE_MESSAGE(group_status, x.group, x.phase, x.members, x.leaders, x.missing,
               x.context_id, x.entries)

struct group_list {
  std::vector<group_status> groups;
};

TROUPE_MESSAGE(group_list, x.groups)

/// Which groups have members on this node, or began here.
struct list_groups {};

TROUPE_EMPTY_MESSAGE(list_groups)

/// Asks for the tracker of one of them. Fails with `not_found`.
struct find_group {
  group_key group;
};

TROUPE_MESSAGE(find_group, x.group)

} // namespace troupe
