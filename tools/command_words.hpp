#pragma once

#include <caf/expected.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the words of other launchers are here. docs/habits.md is the same table
// for readers; tests/interop/habits.sh holds the two together.

namespace CLI {
class App;
}

namespace troupe {

/// What becomes of a word that is none of ours.
enum class word_fate {
  translated, ///< It is written as options of ours.
  left_out,   ///< It has no meaning here; the user is told once.
  refused,    ///< It asks for something that is not done.
};

/// A word of another launcher.
struct option_word {
  /// With two dashes, or a single letter with one.
  std::string_view name;

  /// How many words follow it; `only_attached` for `--word[=VALUE]`.
  int values;
  word_fate fate;

  /// Translated: our options with blanks between, `{1}` and `{2}` for its
  /// values. Left out: why. Refused: what to do instead.
  std::string_view text;
};

inline constexpr int only_attached = -1;

/// Finds a word.
/// @param name As the table has it.
/// Source: `mpirun --help` of Open MPI 4.1; prterun and mpirun of Open MPI 5;
/// `srun --help` of Slurm 22.05; mpiexec of MPICH.
const option_word* find_word(std::string_view name);

/// All of them.
const std::vector<option_word>& all_words();

/// Our options for a translated word.
std::vector<std::string> translate(const option_word& word,
                                   const std::vector<std::string>& values);

/// The name that is most like a misspelled one, if any is.
std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& names);

/// The arguments of `troupe run` if our program is called as another launcher:
/// through a link, `ln -s .../troupe mpirun`. `prun` is one that runs jobs in a
/// DVM that is up.
/// @param called How the program was called, `argv[0]`.
/// @param args   Its arguments.
/// @returns nothing if it is called by another name.
std::optional<std::vector<std::string>>
run_arguments(std::string_view called, const std::vector<std::string>& args);

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
