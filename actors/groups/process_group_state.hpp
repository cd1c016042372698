#pragma once

// The inside of process_group: shared by actors/groups/process_group*.cpp only.

#include "messages/group_entry.hpp"

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

  /// Has joined by an answer to an invitation: CONSTRUCT_COMPLETE tells it.
  bool has_answered = false;

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

  /// Somebody has accepted: the leader may abort.
  invite_accepted,
};

/// A question that handlers think about.
struct inquiry {
  topic about = topic::invite_failed;

  /// Whom it is about.
  proc_id subject;

  /// Those that have not answered.
  std::vector<proc_id> asked;
  std::vector<group_verdict> verdicts;
};

/// What a caller of the construction brings along.
struct contribution {
  proc_id proc;
  std::vector<info> infos;
};

} // namespace troupe::process_group_internals
