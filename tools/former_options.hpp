#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace troupe {

/// Adds the options that Open MPI's mpirun had for the output of processes
/// before there was `--output`; they are not in the help.
/// @param outputs Gets what they are called now.
void add_former_options(CLI::App& cli, std::vector<std::string>& outputs);

} // namespace troupe
