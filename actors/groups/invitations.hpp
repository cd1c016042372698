#pragma once

#include "messages/event.hpp"
#include "messages/group_entry.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// The invitations to groups that a process has sent or received, and what
/// becomes of them. A plain class: calls, events and the time come in, effects
/// go out.
///
/// Inviter and invitees agree by events, as they do in OpenPMIx, so that each
/// side may have another library: PMIX_GROUP_INVITED, an answer from each
/// invitee, then PMIX_GROUP_CONSTRUCT_COMPLETE or PMIX_GROUP_CONSTRUCT_ABORT
/// from the inviter. Our servers keep a log of the invitation on top of it:
/// what they send carries `group_keys::invitation`, and they alone find another
/// leader when the inviter fails. Under other servers the invitation ends then.
///
/// An answer counts once the handlers of the process have seen it: what they
/// return may abort, replace, or go on with fewer.
///
/// Time is that of a clock that never goes back, whatever its epoch.
/// Source: RFC0033, Group_invite and Group_join; requirements G33 to G51.
class invitations {
public:
  using time = std::chrono::nanoseconds;

  struct settings {
    /// How long a server gets to say what becomes of a process that has failed.
    time grace{0};

    /// Received invitations that are kept, and processes of one that is sent.
    size_t max_received = 0;
    size_t max_invitees = 0;
  };

  /// A call that has come to its end. The number is the caller's.
  struct outcome {
    uint64_t call = 0;
    status code = status::success;
    std::vector<info> infos;
  };

  /// A group that the process is in from now on. Its members are in the order of
  /// their ranks; a wildcard stands for a whole namespace.
  struct formed_group {
    std::string id;
    std::vector<proc_id> members;
    std::optional<uint64_t> context_id;
  };

  /// What is to be done, in this order.
  struct effects {
    /// Tell others; the server's answer goes to `confirm` with the number.
    std::vector<std::pair<uint64_t, notify_request>> notices;

    std::vector<formed_group> formed;

    std::vector<outcome> outcomes;

    /// Tell the process's own handlers.
    std::vector<event> own;
  };

  explicit invitations(settings x) : settings_(x) {
    // nop
  }

  /// Who we are.
  void set_self(proc_id x) {
    self_ = std::move(x);
  }

  // -- calls --

  /// Invites processes to a group. The caller is a member if it is among them.
  /// @param call The number of the call; it ends in an outcome if this
  /// succeeds.
  /// @param range Whom it names, wildcards as they were written.
  /// @param procs The same spelt out, in the order of their ranks.
  /// @returns `bad_param` if nobody else is invited or the time-out is no
  ///          number of seconds, `exists` if an invitation
  ///          to the group is open, `out_of_resource` beyond the bounds.
  status invite(uint64_t call, const std::string& id,
                std::vector<proc_id> range, const std::vector<proc_id>& procs,
                const std::vector<info>& directives, time now, effects& out);

  /// Answers an invitation.
  /// @param leader Who has invited; null: whoever has.
  /// An invitation that has come to its end already still takes one answer.
  /// One that we lead we cannot decline: such a call ends with the invitation,
  /// by `exists` if we are in the group.
  /// @returns `not_found` if we are not invited to the group, `bad_param` if we
  ///          are but not by `leader`, `exists` if it is answered already.
  status join(uint64_t call, const std::string& id, const proc_id* leader,
              bool accepts, const std::vector<info>& directives, time now,
              effects& out);

  // -- what happens --

  /// The server has answered a notice. What it refuses because the invitation is
  /// over ends with the event that says how, which may come behind the answer.
  void confirm(uint64_t notice, status code, time now, effects& out);

  /// An event has come: its handlers have not seen it yet.
  void observe(const event& what, time now, effects& out);

  /// The handlers of an event have run, with these results.
  void decide(const event& what, const group_verdict& verdict, time now,
              effects& out);

  /// The program raises an event itself.
  void raise(const notify_request& what, effects& out);

  /// There is no server any more: all calls end.
  void lose(status code, effects& out);

  /// When `advance` wants to be called, if ever.
  std::optional<time> next() const;

  /// What is due.
  void advance(time now, effects& out);

  /// The groups that are invited to and not complete: not to be used yet.
  /// Source: requirements, G45.
  std::vector<std::string> open_groups() const;

  /// The events that a process wants to hear of once it has anything to do with
  /// invitations, whatever its program has registered for.
  static const std::vector<status>& codes();

private:
  /// How an invitee stands.
  enum class standing : uint8_t {
    pending,

    /// Lost; the server has time to say so.
    lost,

    /// Our handlers are being asked, because it is silent or lost, or has declined
    /// and they have said nothing of that.
    doubtful,
    accepted,

    /// Will not be a member.
    out,
  };

  struct invitee {
    proc_id proc;
    standing how = standing::pending;

    /// Whether it is doubtful because it has not answered in time.
    bool was_silent = false;

    /// It has accepted while our handlers were asked.
    bool is_back = false;

    bool has_declined = false;

    /// While `lost`: when our handlers are asked.
    time due{0};
  };

  /// An invitation of ours.
  struct sent {
    std::string id;
    uint64_t call = 0; // 0: nobody waits.

    /// Whether the call declines an invitation that we have come to lead.
    bool is_declined = false;
    std::vector<invitee> invitees;
    bool is_optional = false;
    std::vector<info> directives;
    std::optional<time> patience;
    std::optional<time> deadline;

    /// Its number on servers that keep a log.
    std::optional<uint64_t> number;

    /// The notice that invites, and whether others were invited before; the one
    /// that ends it, 0 while answers are awaited.
    uint64_t first_notice = 0;
    bool is_extended = false;
    uint64_t last_notice = 0;

    /// Those who led it before us, if we have not answered it: who answers late
    /// is told what it has come to.
    std::vector<proc_id> unanswered;

    /// What it comes to.
    status code = status::success;
    std::vector<proc_id> members;
    std::optional<uint64_t> context_id;

    /// What the invitees have posted.
    std::vector<info> infos;

    /// Whether the server has taken the last event, and shown it to us.
    bool is_confirmed = false;
    bool was_shown = false;
    bool is_over = false;
  };

  /// How an invitation that we have received stands.
  enum class reply : uint8_t { none, accepted, declined };

  struct received {
    std::string id;

    /// Who leads, and those who did before.
    proc_id leader;
    std::vector<proc_id> former;
    std::optional<uint64_t> number;
    reply how = reply::none;
    uint64_t call = 0; // 0: nobody waits.
    uint64_t notice = 0;
    std::optional<time> deadline;

    /// The leader is lost: when we say so ourselves. Never if the server keeps
    /// a log, since it has another one elected. Or our answer was refused: when
    /// we wait no longer for the event that says why.
    std::optional<time> due;
    std::optional<status> refused;

    /// What has become of it before it was answered: who answers now is told.
    std::optional<status> fate;
    std::vector<info> fate_infos;
    bool is_over = false;

    bool is_open() const {
      return !is_over && !fate;
    }
  };

  // -- sent --

  void note_number(const event& what);
  sent* find_sent(const event& what, const proc_id& who);
  static invitee* find_invitee(sent& x, const proc_id& who);
  void take_answer(const event& what, const group_verdict& verdict, time now,
                   effects& out);
  void refuse_late(const event& what, effects& out);
  void take_failure(const event& what, const group_verdict& verdict, time now,
                    effects& out);
  void drop(sent& x, invitee& who, status why, const group_verdict& verdict,
            time now, effects& out);
  void add_invitees(sent& x, const std::vector<proc_id>& procs, time now,
                    effects& out);
  void take_decline(sent& x, invitee& who, const group_verdict& verdict,
                    time now, effects& out);
  void doubt(sent& x, invitee& who, effects& out);
  void show_failure(const sent& x, const proc_id& who, effects& out) const;
  void settle(sent& x, effects& out);
  void complete(sent& x, effects& out);
  void abort(sent& x, status code, effects& out);
  void end(sent& x, status code, effects& out);
  void end_sent(const event& what, effects& out);
  void take_over(const received& from, const event& what, effects& out);
  void lose_invitee(const proc_id& who, time now);
  void advance_sent(time now, effects& out);
  void remove_sent();

  // -- received --

  /// The oldest that an event may be about.
  received* find_received(const event& what, reply how);
  void take_invitation(const event& what);
  void end_received(const event& what, effects& out);
  void take_new_leader(const event& what, effects& out);
  void confirm_answer(received& x, status code, time now, effects& out);
  void lose_leader(const proc_id& who, time now);
  void end(received& x, status code, std::vector<info> infos, effects& out);
  void advance_received(time now, effects& out);
  void remove_received();

  uint64_t notify(status code, std::vector<proc_id> range,
                  const std::string& id, const std::optional<uint64_t>& number,
                  std::vector<info> more, effects& out);

  settings settings_;
  proc_id self_;
  std::deque<sent> sent_;
  std::deque<received> received_;

  /// Own invitations that are over, with their members, the last one first.
  std::deque<std::pair<std::string, std::vector<proc_id>>> ended_;
  uint64_t last_notice_ = 0;
};

} // namespace troupe
