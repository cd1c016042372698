#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the words of other launchers are here. docs/habits.md is the same table
// for readers; tests/interop/habits.sh holds the two together.

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

} // namespace troupe
