#pragma once

#include "messages/group_entry.hpp"

#include <optional>
#include <vector>

namespace troupe {

/// What a participant wants done about a failure, as its handlers said.
/// Source: RFC0033, Group_construct and Group_invite.
struct group_wish {
  /// The construction ends without a group.
  bool aborts = false;

  /// It leads from now on.
  bool leads = false;

  /// The group may be smaller.
  bool goes_on = false;

  /// Who takes the place of the process that failed.
  std::vector<proc_id> replacements;
};

/// Reads what handlers answered: PMIX_GROUP_CONSTRUCT_ABORT as their status or
/// in their results; PMIX_GROUP_LEADER, true or the process itself;
/// PMIX_GROUP_ADD_MEMBERS; PMIX_GROUP_OPTIONAL, or a PMIX_GROUP_MEMBERSHIP
/// without the process that failed.
/// Source: readings A31 and A32.
group_wish wish_of(const group_verdict& x, const proc_id& failed);

/// What the wishes of all that were asked about a failure come to.
struct group_ruling {
  /// Each beats those before it.
  enum class kind : uint8_t { nothing, goes_on, replaces, aborts };

  kind what = kind::nothing;

  /// Whose wish it is; of several alike, that of the lowest in
  /// (namespace, rank).
  std::optional<proc_id> by;
  std::vector<proc_id> replacements;
};

/// A function of the set of verdicts, not of the order in which they came.
group_ruling rule_on(const std::vector<group_verdict>& verdicts,
                     const proc_id& failed);

} // namespace troupe
