#pragma once

// The inside of the GROUP TRACKER: shared by actors/groups/group_tracker*.cpp
// only.

#include "actors/answer.hpp"
#include "actors/groups/group_tracker.hpp"
#include "actors/groups/process_group.hpp"
#include "actors/reminders.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>

namespace troupe::group_tracker_internals {

/// What nodes learn that keep the log later than others: first, that they do,
/// and then what came before.
struct group_history {
  /// Tells this time from others.
  uint64_t mark = 0;

  /// As when the group began; none: they are to wait for the rest.
  std::vector<proc_id> participants;

  /// All entries before it was said that they keep it.
  std::vector<group_entry> entries;
};

TROUPE_MESSAGE(group_history, x.mark, x.participants, x.entries)

/// Who keeps the log.
enum class log_keeper : uint8_t {
  /// Not known yet: the host is asked where the participants are.
  unknown,

  /// This node alone.
  tracker,

  /// The hosts of all nodes with participants.
  mesh,

  /// A host that conducts groups itself: of a group there is on this node only
  /// what the host says.
  host,
};

/// A local call that waits for its answer.
template <class Request, class Result>
struct waiting_call {
  Request request;
  answer<Result> reply;

  /// Whether it has been made an entry.
  bool is_sent = false;
};

using waiting_construct =
  waiting_call<group_construct_request, group_construct_result>;
using waiting_destruct = waiting_call<group_destruct_request, ack>;

/// An event of the group that a local process has raised.
struct waiting_notice {
  proc_id source;
  status code = status::success;
  answer<ack> reply;

  /// Whether it is in the log: it waits for the end of the construction.
  bool is_taken = false;
};

struct tracker_state {
  static inline const char* name = "group-tracker";

  group_tracker_options options;
  server_actor server;
  host_actor host;
  event_cache_actor events;

  std::optional<process_group> group;
  log_keeper keeper = log_keeper::unknown;

  /// The nodes that keep the log, and those that are lost.
  std::vector<uint32_t> hosts;
  std::set<uint32_t> lost;
  uint32_t here = 0;

  /// Where participants on other nodes are.
  std::map<proc_id, uint32_t> places;

  /// Participants whose node was lost before.
  std::vector<proc_id> placeless;

  std::map<proc_id, waiting_construct> constructs;
  std::map<proc_id, waiting_destruct> destructs;
  std::vector<waiting_notice> notices;

  /// Local participants that have done with the group, and that leave.
  std::set<proc_id> released;

  /// What the group had said of releases when the server was told.
  uint64_t releases = 0;
  std::set<proc_id> leaving;

  /// What happened here before it was known who keeps the log.
  std::vector<group_step> early;

  /// Entries that are to be carried out, while another one is. A list: empty,
  /// it costs nothing.
  std::list<group_entry> queue;
  bool is_draining = false;

  /// Whether it is being asked where processes are that have been added.
  bool is_held = false;

  /// The entries so far, until the construction is decided: others may have to
  /// learn them.
  std::vector<group_entry> history;

  /// How often nodes are to join the log that have not been told so, and which.
  size_t joining = 0;
  std::set<uint32_t> joining_hosts;

  /// How many of them other nodes wait for, by the mark that they were told.
  std::map<uint64_t, size_t> history_due;
  uint32_t marks = 0;

  /// The mark that this node was told, and what has come since.
  std::optional<uint64_t> joining_mark;
  std::vector<group_entry> since;

  /// Whether a first entry has been carried out.
  bool has_begun = false;
  bool is_flush_due[2] = {false, false};
  bool is_host_asked[2] = {false, false};
  bool is_over = false;

  reminders waits;

  bool is_local(const proc_id& proc) const;
  std::vector<proc_id> local_of(const std::vector<proc_id>& procs) const;

  void log(severity level, const std::string& line) const {
    if (options.log)
      options.log(level, line);
  }
};

TROUPE_SELF_POINTER(group_tracker_actor, tracker_state);

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then);

// -- group_tracker.cpp
// ---------------------------------------------------------------

/// Gives an entry its place in the log.
void submit(self_pointer self, group_step what, bool may_wait = false);

/// Carries out what is queued.
void drain(self_pointer self);

/// The lowest of the nodes that live says what has become of those that do not,
/// and tells others what they have missed.
void speak_for_all(self_pointer self);

/// Whether this is the lowest of the nodes that live and keep the log.
bool is_lowest(const tracker_state& state);

/// Answers all calls with an error and ends.
void give_up(self_pointer self, status code, const std::string& why);

// -- group_tracker_calls.cpp
// ---------------------------------------------------------

caf::result<group_construct_result> construct(self_pointer self,
                                              const requester& who,
                                              group_construct_request& request);

caf::result<ack> destruct(self_pointer self, const requester& who,
                          group_destruct_request& request);

caf::result<ack> leave(self_pointer self, const requester& who);

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request);

/// Makes entries of calls if it is time.
void gather(self_pointer self, group_operation operation);

/// Answers who has raised an event that is in the log now.
void answer_notice(self_pointer self, const group_notice& what,
                   std::optional<status> refused);

/// Answers the calls that are decided.
void answer_calls(self_pointer self,
                  const std::shared_ptr<const group_construct_result>& result);

// -- group_tracker_effects.cpp
// -------------------------------------------------------

/// Applies the next entry of the log, and carries out what follows.
void apply(self_pointer self, const group_entry& entry);

void carry_out(self_pointer self, const group_entry& entry,
               process_group::effects& out);

// -- group_tracker_joining.cpp
// -------------------------------------------------------

/// Finds out where processes are that have been added, has their nodes keep the
/// log, too, and then carries out what else follows.
void take_in(self_pointer self, const group_entry& entry,
             process_group::effects out);

/// A node is lost: it may have been the one that says which others join.
void say_again_who_joins(self_pointer self);

/// What nodes that join the log have to know.
/// @returns whether the entry is for them, or this one joins itself.
bool take_snapshot(self_pointer self, const group_entry& entry);

} // namespace troupe::group_tracker_internals
