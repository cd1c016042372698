#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe top`: shows nodes, jobs and processes of a DVM on the whole terminal, with
/// what they use of their nodes, as long as its user wants, and sends signals. With
/// `--once` or `--json` it prints what there is now.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 1 if there is no DVM, or no terminal, or the DVM went
///          away; 2 for a mistake in `args`.
int top(std::vector<std::string> args);

} // namespace troupe
