#pragma once

#include "tools/command_words.hpp"
#include "tools/run_flags.hpp"
#include "tools/run_options.hpp"

namespace troupe {

/// Notes which files are copied to the nodes before the job starts, and which
/// options say what nodes these are.
/// @param cli  All options, as they were read.
/// @param from The same as they were given.
/// @throws CLI::ValidationError for a program that is written without its
///         directory, since it may be another one elsewhere.
void add_preloads(run_options& result, const job_flags& x, const CLI::App& cli,
                  const command_segment& from);

} // namespace troupe
