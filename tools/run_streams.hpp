#pragma once

#include "tools/run_flags.hpp"
#include "tools/run_options.hpp"

namespace troupe {

/// Writes what the options say of the streams of processes into the job, and
/// into what the launcher itself does.
/// @throws CLI::ValidationError with the option, what is wrong and the remedy.
/// Source: PMIx Standard v5, PMIX_STDIN_TGT; OpenPMIx, PMIX_SPAWN_PTY.
void add_streams(run_options& result, const job_flags& x);

} // namespace troupe
