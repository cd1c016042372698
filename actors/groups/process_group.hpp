#pragma once

#include "actors/groups/group_wish.hpp"
#include "messages/group_entry.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// A group of processes, as its log makes it.
///
/// A plain class: entries in, effects out. All nodes that keep the log apply
/// the same entries in the same order and so draw the same conclusions; each
/// carries out what concerns its own processes. It knows neither the time nor
/// the node. Source: RFC0033; guarantees 5.6, GRP-1 to GRP-5.
class process_group {
public:
  /// What calls are answered with. Those who have not called yet are answered
  /// with it when they do.
  struct outcome {
    group_operation operation = group_operation::construct;
    status code = status::success;

    /// For the log: the culprit, and the remedy.
    std::string reason;

    /// Of a construction that has succeeded.
    std::shared_ptr<const group_construct_result> result;
  };

  /// An event that asks handlers. Each process among its targets answers once
  /// with a `group_verdict`; who does not listen, with an empty one, which its
  /// node enters at once; who does not answer in time, with a `group_time_up`
  /// of the round.
  struct question {
    uint64_t round = 0;
    deliver_event what;
  };

  /// What follows from an entry, on all nodes alike.
  struct effects {
    /// Operations that are decided, in this order.
    std::vector<outcome> outcomes;

    /// Operations that have begun, with the number that a `group_time_up`
    /// names.
    std::vector<std::pair<group_operation, uint64_t>> begun;

    /// Events with all their targets.
    std::vector<deliver_event> events;
    std::vector<question> questions;

    /// What processes have posted: kept by nodes on which they are not.
    std::vector<proc_data> data;

    /// What callers give to the other members: kept by all nodes.
    std::vector<proc_data> infos;

    /// Whether `members()` is new.
    bool is_changed = false;

    /// Who is no member any more.
    std::vector<proc_id> departed;

    /// Who takes part from now on; their nodes keep the log, too.
    std::vector<proc_id> added;

    /// Whether each node now enters a `group_data` of its processes that have
    /// joined.
    bool needs_data = false;

    /// What the notice of this entry is refused with, at whoever raised it:
    /// `not_a_member` the answer of a stranger, or one that comes too late;
    /// `no_permissions` what only the leader may say; `exists` what is decided
    /// already; or what the construction has failed with.
    std::optional<status> refused;
  };

  /// What a complete group needs to go on if nothing about it is open.
  struct rest {
    /// Ascending, and how each of them stands, a byte each.
    std::vector<proc_id> participants;
    std::string standings;

    /// In the order of their ranks.
    std::vector<proc_id> members;

    /// Of the construction.
    status code = status::success;
    std::optional<uint64_t> context_id;

    std::optional<proc_id> lost;
    bool notifies_termination = false;

    /// Whether anybody may join, and whether the leader has said that all whom it
    /// has invited have come.
    bool is_open = false;
    bool is_concluded = false;

    uint64_t elections = 0;
    uint64_t next_round = 1;
    uint64_t entries = 0;
  };

  /// @param participants Who is named when the group begins, spelt out, each
  ///                     once.
  process_group(group_key key, std::vector<proc_id> participants);

  /// A group that goes on from what `at_rest` has said of it.
  static process_group after(group_key key, rest from);

  /// Nothing while the group is not complete, ends, or asks handlers.
  std::optional<rest> at_rest() const;

  /// Applies the next entry of the log. Never fails: what makes no sense is
  /// passed over, by all nodes alike.
  void apply(const group_entry& entry, effects& out);

  const group_key& key() const {
    return key_;
  }

  group_phase phase() const {
    return phase_;
  }

  /// Whether nothing of it is left: every participant has had its answers, or
  /// is gone.
  bool is_over() const;

  /// In the order of their ranks; null before it is complete and after its end.
  const std::shared_ptr<const std::vector<proc_id>>& members() const {
    return members_;
  }

  /// Whether `proc` takes part: may call, and is told.
  bool is_participant(const proc_id& proc) const;

  bool is_member(const proc_id& proc) const;

  /// Whether `proc` has called the operation.
  bool has_called(group_operation operation, const proc_id& proc) const;

  /// Whether `proc` has done with the group: may use its identifier anew.
  bool is_released(const proc_id& proc) const;

  /// Grows whenever `is_released` may have changed for somebody.
  uint64_t releases() const {
    return releases_;
  }

  /// What the operation came to; null while it is not decided.
  const outcome* outcome_of(group_operation operation) const;

  /// The number of the operation that is under way; nothing if none is.
  std::optional<uint64_t> round_of(group_operation operation) const;

  /// The participants whose end it has not been told of, ascending.
  std::vector<proc_id> live_participants() const;

  /// Those that the question `round` waits for; none if it is decided.
  std::vector<proc_id> asked(uint64_t round) const;

  std::vector<proc_id> leaders() const;

  group_status describe() const;

private:
  /// Where a participant stands.
  enum class standing : uint8_t {
    /// Has not called the construction, nor answered the invitation.
    awaited,

    /// Has called it, or accepted; once the group is complete: a member.
    joined,
    declined,
    left,
    ended,

    /// Takes no part: its place was given up, or given to another.
    dropped,
  };

  struct participant {
    proc_id proc;
    standing state = standing::awaited;
    bool is_leader = false;

    /// Was not named when the group began: is invited to it.
    bool is_added = false;

    /// Has been asked to join by an event.
    bool is_invited = false;

    /// Has joined by an answer to an invitation: CONSTRUCT_COMPLETE tells it.
    bool has_answered = false;

    /// Others wait for what it has posted.
    bool owes_data = false;

    /// That has come.
    bool has_given = false;

    /// Has called the end of the group.
    bool has_called_destruct = false;

    /// Its position among those who have joined, from 1.
    uint32_t arrival = 0;

    bool is_live() const {
      return state == standing::awaited || state == standing::joined;
    }
  };

  /// What a question to handlers is about.
  enum class topic : uint8_t {
    /// The leader has ended: who leads?
    leader_failed,

    /// Somebody has ended without having joined: a replacement, fewer, an abort?
    invite_failed,

    /// Likewise, somebody has declined.
    invite_declined,
  };

  /// A question that handlers think about.
  struct inquiry {
    topic about = topic::invite_failed;

    /// Whom it is about.
    proc_id subject;

    /// Those that have not answered.
    std::set<proc_id> asked;
    std::vector<group_verdict> verdicts;

    /// Whether anybody wants no group any more.
    bool aborts = false;
  };

  /// What a caller of the construction brings along.
  struct contribution {
    proc_id proc;
    std::vector<info> infos;
  };

  /// Those who have been asked to join by an event.
  struct invitation {
    /// Who began the group by it; none if it is being constructed, and some are
    /// invited to that.
    std::optional<proc_id> inviter;

    /// In the order in which they were named, which is that of their ranks.
    std::vector<proc_id> invited;

    /// Nobody has been invited, but some have joined.
    bool is_open = false;

    /// The leader has said that all have come; what is missing are data.
    std::optional<group_notice> completion;

    /// How many owe data.
    size_t owing = 0;

    /// Who has said that there is no group.
    std::optional<proc_id> called_off;
    bool is_disbanded = false;
  };

  /// Who leads after leaders have ended: while questions about it are open.
  struct election {
    /// Who would lead.
    std::set<proc_id> candidates;

    /// Who of them has told all others itself.
    std::set<proc_id> announced;

    /// Who has failed while nobody was there to decide about it.
    std::vector<proc_id> waiting;

    /// How many have been decided.
    uint64_t count = 0;
  };

  // -- participants --

  participant* find(const proc_id& proc);
  const participant* find(const proc_id& proc) const;

  /// Takes `proc` in as one who is awaited, or awaits it again; it will be a
  /// member if it joins. References to participants end.
  participant& add(const proc_id& proc, effects& out);

  /// Likewise these, as many as a group may have; but nobody who has ended.
  /// @returns who takes part now and did not, ascending.
  std::vector<proc_id> add_all(std::vector<proc_id> procs, effects& out);

  /// Changes where `who` stands; nothing else may.
  void set(participant& who, standing state);

  /// `who` has joined the construction.
  void note_joined(participant& who);

  /// Whether it is told of the group: until it is complete everybody who lives,
  /// then its members.
  bool is_concerned(const participant& who) const;

  /// Raises an event of the group; `PMIX_GROUP_ID` is added. Targets that are
  /// gone are left out; without any that are not, there is no event.
  void raise(status code, const proc_id& source, std::vector<proc_id> targets,
             std::vector<info> infos, effects& out) const;

  deliver_event make_event(status code, const proc_id& source,
                           std::vector<proc_id> targets,
                           std::vector<info> infos) const;

  /// Whom the group concerns, but `but`.
  std::vector<proc_id> others(const proc_id& but) const;

  /// Who hears of failures: the leaders that live, or everybody whom it
  /// concerns.
  std::vector<proc_id> watchers() const;

  // -- the construction

  void take(const group_calls& what, effects& out);
  void take(const group_conflict& what, effects& out);
  void take(const group_host_outcome& what, effects& out);
  void take(const group_snapshot& what, effects& out);

  void join(const group_calls& what, const proc_id& proc,
            const group_caller& caller, effects& out);

  /// Completes the construction if nobody is awaited and no question is open.
  void check_complete(effects& out);

  /// Those who have joined, in the order of their group ranks.
  std::vector<proc_id> ordered_members() const;

  /// What the first caller has named, with replacements in their places.
  std::vector<proc_id> current_array() const;

  /// The processes of an array, wildcards spelt out.
  std::vector<proc_id> spelt_out(const std::vector<proc_id>& procs) const;

  /// The group has its members now: those who have joined. Raises no
  /// CONSTRUCT_COMPLETE.
  void complete(effects& out);

  /// The construction has failed: `code` for all who call it or have called.
  /// Raises no event.
  void abort(status code, std::string reason, effects& out);

  /// A participant has ended before the construction was decided: a leader is
  /// followed by another, then `replace_ended`.
  void constructor_ended(participant& who, effects& out);

  /// Goes on without `proc`, which has ended, or asks what becomes of the
  /// construction.
  void replace_ended(const proc_id& proc, effects& out);

  // -- the end of members and of the group --

  void take(const group_procs_ended& what, effects& out);
  void take(const group_departure& what, effects& out);
  void take(const group_time_up& what, effects& out);
  void take_destruct(const group_calls& what, effects& out);

  /// Ends the group if all members have called for it.
  void check_destructed(effects& out);

  /// It is no group any more: all members learn so when they call.
  void end(status code, std::string reason, effects& out);

  void member_ended(participant& who, effects& out);

  /// `proc` is no member any more: those behind it close ranks.
  void remove_member(const proc_id& proc, effects& out);

  // -- invitations

  /// A participant has raised an event of the group. The first entry of a group
  /// by invitation is the INVITED of its leader, or the ACCEPTED of somebody
  /// who knows the leader otherwise.
  void take(const group_notice& what, effects& out);
  void begin_invitation(const group_notice& what, effects& out);

  /// Marks those who have not been asked to join yet.
  void note_invited(const std::vector<proc_id>& procs);

  /// What `who` has posted is wanted, or no longer is.
  void set_owes_data(participant& who, bool owes);

  /// Somebody has joined whom not all nodes knew when the first ones called: wants
  /// what has come of nobody yet.
  void want_data(effects& out);

  /// Whether it is open what the construction comes to.
  bool is_undecided() const;

  void invite(const group_notice& what, effects& out);
  void accept(const group_notice& what, effects& out);
  void decline(const group_notice& what, effects& out);

  /// The leader says that all members have come.
  void conclude(const group_notice& what, effects& out);

  /// The leader wants no group any more.
  void call_off(const group_notice& what, effects& out);

  /// Somebody says itself that it leads now.
  void announce_leader(const group_notice& what, effects& out);

  /// What `conclude` and `call_off` are refused with.
  status refusal() const;

  void take_wishes(const std::vector<info>& infos);

  // -- events of an invitation --

  /// What all events of an invitation carry.
  std::vector<info> invitation_infos() const;

  /// The event of a participant, for these.
  void pass_on(const group_notice& what, std::vector<proc_id> targets,
               effects& out) const;

  /// INVITE_FAILED, to the leader of an invitation.
  void report_failed(const proc_id& proc, effects& out) const;

  void take(const group_data& what, effects& out);

  /// A participant has ended while the group is inviting, or cannot join.
  void lose_invitee(participant& who, standing state, effects& out);

  /// Completes or ends what is due, after each entry.
  void conclude_invitation(effects& out);
  void found(effects& out);
  void disband(effects& out);

  // -- the leader --

  bool is_electing() const;

  /// A leader has ended: asks who leads. Its `participant` says so already.
  void leader_ended(const proc_id& leader, effects& out);

  /// `proc` leads if it is left to it.
  /// @returns whether it may say so now.
  bool nominate(const proc_id& proc);

  void count_votes(const inquiry& x, effects& out);
  std::optional<proc_id> choose_leader() const;
  void elect(const proc_id& failed, effects& out);
  std::vector<info> selection_infos(const std::optional<proc_id>& winner) const;

  // -- questions to handlers --

  void take(const group_verdicts& what, effects& out);

  /// Nobody has to answer any more.
  void question_time_up(uint64_t round, effects& out);

  /// Whoever has ended, left or been dropped answers nothing more.
  void stop_asking(const proc_id& proc, effects& out);

  /// Asks the handlers of `targets`: adds a question, and keeps it until all
  /// have answered. It is decided at the end of the entry that answers it.
  void ask(topic about, const proc_id& subject, status code,
           const proc_id& source, std::vector<proc_id> targets,
           std::vector<info> infos, effects& out);

  /// Decides the questions that have all their answers; ends each entry.
  void settle(effects& out);

  /// Decides about a participant that has failed to join.
  void rule(const inquiry& x, effects& out);

  /// Takes these in, in the place of one that has failed.
  /// @returns what else to do if it takes in nobody.
  group_ruling::kind replace(const proc_id& failed, const proc_id& by,
                             const std::vector<proc_id>& with, effects& out);

  group_key key_;
  group_phase phase_ = group_phase::constructing;

  /// Ascending.
  std::vector<participant> participants_;

  /// How many of them are awaited, have joined, and have called the end.
  size_t awaited_ = 0;
  size_t joined_ = 0;
  size_t ending_ = 0;
  std::shared_ptr<const std::vector<proc_id>> members_;

  // What the callers of the construction ask for: what one wants, all have.
  bool is_optional_ = false;
  bool is_fault_tolerant_ = false;
  bool notifies_termination_ = false;
  bool wants_context_id_ = false;

  /// The leaders of a bootstrap that have to call, and that have; 0: it is
  /// none.
  uint64_t leaders_expected_ = 0;
  uint64_t leaders_come_ = 0;

  /// The array that the first caller has given, and whether others differ.
  std::vector<proc_id> first_array_;
  bool arrays_differ_ = false;

  /// Who has been given up, and who was invited in its place.
  std::vector<std::pair<proc_id, std::vector<proc_id>>> replacements_;
  std::vector<proc_id> final_order_;
  bool is_order_of_leader_ = false;
  std::vector<contribution> contributions_;
  std::optional<uint64_t> context_id_;

  /// The first number that was offered.
  uint64_t offered_context_id_ = 0;

  std::optional<outcome> construct_;
  std::optional<outcome> destruct_;

  /// Somebody has ended without having left, in silence.
  std::optional<proc_id> lost_;

  /// The members are others than those that were named.
  bool is_reduced_ = false;
  bool is_extended_ = false;

  /// Whether the end goes on without those who end.
  bool ends_fault_tolerant_ = false;

  uint32_t arrivals_ = 0;
  uint64_t next_round_ = 1;
  uint64_t destruct_round_ = 0;
  std::map<uint64_t, inquiry> inquiries_;
  invitation invitation_;
  election election_;
  uint64_t entries_ = 0;
  uint64_t releases_ = 0;
};

TROUPE_INSPECT(process_group::rest, in_runs<Inspector>(x.participants),
               x.standings, in_runs<Inspector>(x.members), x.code, x.context_id,
               x.lost, x.notifies_termination, x.is_open, x.is_concluded,
               x.elections, x.next_round, x.entries)

} // namespace troupe
