#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What programs of ours exit with, and what they say when something is wrong,
// with why and the remedy: `troupe help errors`. troupe-errors(7) is made of the
// same; tests/interop/manual.sh looks for each text in the sources.

namespace troupe {

/// A number that a program of ours exits with.
struct exit_status_entry {
  /// The number, or a range such as `129-192`.
  std::string_view number;

  /// Commands that exit with it, with blanks between; `all`: each.
  std::string_view commands;

  /// What has happened, without the end of the sentence.
  std::string_view meaning;

  /// What helps; empty: nothing is wrong.
  std::string_view remedy;
};

/// Something that a program of ours says on standard error or in its log.
struct error_entry {
  /// What stays the same of it, as it is in the sources.
  std::string_view text;

  /// Why it is said.
  std::string_view why;
  std::string_view remedy;
};

/// A status of PMIx that people meet in what is printed.
struct status_entry {
  /// In C.
  std::string_view name;
  std::string_view why;
  std::string_view remedy;
};

const std::vector<exit_status_entry>& exit_statuses();
const std::vector<error_entry>& error_texts();
const std::vector<status_entry>& status_codes();

/// All of it, for people: at most 79 columns.
std::string catalogue_text();

/// The same as an object with the lists `exit_statuses`, `texts` and `codes`.
nlohmann::json catalogue_json();

/// What is known of something: an exit status, the name or number of a status of
/// PMIx, or words of an error, whatever their case.
/// @returns nothing if nothing is.
std::optional<std::string> about_error(std::string_view words);

} // namespace troupe
