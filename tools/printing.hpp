#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe {

/// A line for people, `who: text`, with its end. Whatever others have written
/// in it - names, the text of an abort or an event, what another node says -
/// cannot command a terminal, nor look like a line of its own. What goes to
/// standard error of a program of ours goes through here.
/// Source: requirement X31.
std::string notice(std::string_view who, std::string_view text);

/// How many columns of a terminal a text takes: one for each character.
/// @pre It has no control characters.
size_t width_of(std::string_view text);

/// As much of the begin of a text as fits into so many columns.
std::string fitted(std::string_view text, size_t columns);

// What `--json` prints. Its members, and when the number changes, are in
// docs/json.md.

/// An object on a line of its own, for commands that go on: with the number of
/// the schema, and what is not UTF-8 replaced.
/// @pre `x` is an object.
std::string json_line(nlohmann::json x);

/// The one object that a command prints, for people to read, too.
/// @pre `x` is an object.
std::string json_document(nlohmann::json x);

/// A list as the one object that a command prints: `items` is its member
/// `name`.
std::string json_document(std::string_view name, nlohmann::json items);

} // namespace troupe
