#pragma once

#include <caf/expected.hpp>

#include <initializer_list>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace troupe {

/// An option as it was typed, and what it is here.
struct given_option {
  /// Its name here, such as `--np`.
  std::string name;

  /// As it was typed: `-np`.
  std::string typed;
  std::string value;

  /// All of it as it was typed, with its values: `-np 4`, `-bynode`.
  std::string whole;
};

/// The options of a program, in our own words, and the program.
struct command_segment {
  /// For CLI11, in order: `--np=4`, `-xNAME`, `--json`.
  std::vector<std::string> options;

  /// The same, for who reports an error.
  std::vector<given_option> given;

  /// The program and its arguments; may be empty.
  std::vector<std::string> command;
};

/// A whole command line, in our own words.
struct command_words {
  std::vector<command_segment> segments;

  /// Words that have no meaning here, as they were typed, each once.
  std::vector<std::string> left_out;

  bool wants_version = false;
  bool wants_help = false;

  /// What help is wanted about; empty: all.
  std::string topic;
};

/// Puts a command line into our own words: long names with one dash, words of
/// other launchers, `--` at the end of the options. Arguments of the programs
/// are left as they are.
/// @param args Without the names of the program and of the command.
/// @param ours All our options, those of a single program among them.
/// @returns `bad_param` with the word as it was typed and the remedy.
/// Source: how mpirun, prterun and srun read their command lines.
caf::expected<command_words> read_words(const std::vector<std::string>& args,
                                        const CLI::App& ours);

/// What was typed for options that have one of these names here, with their
/// values.
std::vector<std::string> typed_as(const command_segment& segment,
                                  std::initializer_list<const char*> names);

/// Puts the name that was typed in the place of ours, where an error begins
/// with it.
std::string in_typed_words(const std::string& error,
                           const command_segment& segment);

} // namespace troupe
