#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace troupe {

/// What stands at the end of the help of `troupe run`.
inline constexpr auto run_help_footer =
  "The options end with the program, or with --:\n"
  "  troupe run [options] program [arguments] [: [options] program "
  "[arguments]]...\n"
  "Long names may have one dash (-np, -host). Words of mpirun, prterun and "
  "srun:\ndocs/habits.md. troupe run --help WORD tells more about one, ours "
  "or theirs.\n\nExit status: that of the worst process; 128 + signal; 127 "
  "not found; 126 not\nexecutable; 125 nothing started, for want of something "
  "here; "
  "124 time-out;\n2 wrong command line.";

/// Tells about an option, or about a word of another launcher.
/// @param topic With or without dashes.
/// @param ours All our options.
/// @returns nothing if nobody knows such a word.
std::optional<std::string> help_about(const std::string& topic,
                                      const CLI::App& ours);

} // namespace troupe
