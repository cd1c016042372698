#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

// What `troupe group` says, from what the DVM answers: an array of objects, as
// actors/groups/group_report.hpp describes. What it quotes cannot reach the
// terminal.

namespace troupe {

/// A table of all groups.
std::string group_table(const nlohmann::json& groups);

/// All there is to say of one group: a line, whom it waits for, and its members
/// by rank.
std::string group_details(const nlohmann::json& group);

/// How a group has changed.
struct group_change {
  /// The group now; one that is no more as it was last, with the phase `over`.
  nlohmann::json group;

  /// In words, without the name of the group.
  std::string words;
};

/// Compares two answers. Whoever differs only in how far its log is has not
/// changed.
std::vector<group_change> group_changes(const nlohmann::json& before,
                                        const nlohmann::json& now);

} // namespace troupe
