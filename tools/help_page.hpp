#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// An option as the help of a command shows it.
struct help_option {
  /// With their dashes.
  std::vector<std::string> names;
  bool takes_value = false;

  /// The values that it may have, if the help lists them.
  std::vector<std::string> choices;
};

/// What the help of a command says of its command line. The help is the one
/// source of it: manual pages and completion are made of the same text.
struct help_page {
  /// Of one that has several commands; else none.
  std::vector<std::string> commands;
  std::vector<help_option> options;

  /// Arguments that are no options, by their names: `TARGET`. The last may come
  /// again if `repeats` says so.
  std::vector<std::string> positionals;
  bool repeats = false;
};

/// Takes the help of a command apart, as CLI11 and `gives_help` write it.
help_page read_help(std::string_view text);

/// Finds an option by one of its names.
/// @returns null if there is none.
const help_option* find_option(const help_page& page, std::string_view name);

} // namespace troupe
