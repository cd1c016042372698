#pragma once

// The inside of process_group: shared by actors/groups/process_group*.cpp only.

#include "messages/group_entry.hpp"

#include <optional>
#include <set>
#include <vector>

namespace troupe::process_group_internals {

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

  /// Has joined by an event, and what it has posted has not come.
  bool owes_data = false;

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

} // namespace troupe::process_group_internals
