#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A text of `troupe help` that is about no single command.
struct help_topic {
  std::string_view name;

  /// What it is about, in half a line.
  std::string_view summary;
};

/// All of them, by name.
const std::vector<help_topic>& help_topics();

/// Prints what is known about a topic.
/// @param words What stands behind `troupe help`: the topic, and for `errors` an
///              exit status, a code, words of an error, or `--json`.
/// @returns the exit status; nothing if there is no such topic.
std::optional<int> help_on_topic(const std::vector<std::string>& words);

} // namespace troupe
