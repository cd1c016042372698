#pragma once

#include <functional>
#include <string>
#include <vector>

// What a shell offers when somebody presses Tab: tools/completion/ has the parts
// for bash and zsh, which only pass the words on.

namespace troupe {

/// Where candidates come from.
struct completion_sources {
  /// What a command of ours prints on standard output; empty if it fails.
  /// @param words Without the name of the program.
  std::function<std::string(const std::vector<std::string>& words)> output_of;

  /// The names of the user's DVMs.
  std::function<std::vector<std::string>()> dvms;

  /// Topics of `troupe help`.
  std::vector<std::string> topics;
};

/// What the last word may become. Commands and options are those of the help;
/// DVMs, jobs, processes, nodes, groups, monitors and requests are those that
/// there are, of the DVM that `--dvm` names.
/// @param words The command line without the name of the program, up to the
///              cursor; the last one may be empty.
/// @returns candidates that begin like it, each once, in order; none where files
///          or programs belong.
std::vector<std::string> candidates(const std::vector<std::string>& words,
                                    const completion_sources& from);

/// `troupe complete -- WORDS`, for shells: prints candidates, one a line. It
/// ends without any if the DVM does not answer in time.
/// @returns 0.
int complete(std::vector<std::string> args);

} // namespace troupe
