#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace troupe {

/// `troupe log`: shows and sets the levels of the logs of a DVM's nodes.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 0, 1 if the DVM does not answer or refuses, 2 for a
///          mistake in `args`, 3 if some nodes have not answered.
int log_command(std::vector<std::string> args);

/// `troupe trace`: shows what has become of a collective operation or an event at
/// all nodes, or of the latest.
/// @returns the exit status: 0, 1 if no node remembers it or the DVM does not
///          answer, 2 for a mistake in `args`.
int trace_command(std::vector<std::string> args);

// What nodes answer, for people and for programs.

/// Levels as aligned columns: a row a subject, a column a node that has levels.
/// @param nodes As the query for `log_levels_key` answers.
std::string levels_to_text(const nlohmann::json& nodes);

/// The steps of all nodes in the order of their times, each with `where`, the rank
/// of its node, and `host`, its name.
/// @param nodes As the query for `trace_key` answers.
nlohmann::json steps_of(const nlohmann::json& nodes);

/// The same, for people: times since the first step. What they quote cannot reach
/// the terminal.
std::string steps_to_text(const std::string& id, const nlohmann::json& steps);

/// The latest operations and events of all nodes together, the last first.
nlohmann::json latest_of(const nlohmann::json& nodes);

/// The same as aligned columns.
std::string latest_to_text(const nlohmann::json& traces);

} // namespace troupe
