#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// `troupe group list`, `show` and `watch`.
struct group_order {
  enum class verb : uint8_t { list, show, watch };

  verb what = verb::list;
  std::string dvm;

  /// Which group; empty: all.
  std::string id;
  bool json = false;

  /// For `watch`: how often to ask.
  std::chrono::milliseconds interval{1000};
};

/// The shortest time between two questions of `watch`.
inline constexpr auto shortest_group_interval = std::chrono::milliseconds{100};

/// Reads the command line of `troupe group`.
/// @returns what to do, or the exit status if there is nothing to do: help was
///          printed, or one line on stderr says what is wrong.
std::variant<group_order, int>
parse_group_options(std::vector<std::string> args);

// What `troupe group` says, from what the DVM answers: an array of objects, as
// actors/groups/group_report.hpp describes. What it quotes cannot reach the
// terminal.

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

/// `troupe group list`, `show` and `watch`.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int group(std::vector<std::string> args);

} // namespace troupe
