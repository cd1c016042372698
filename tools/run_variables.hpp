#pragma once

#include "messages/spawn.hpp"
#include "tools/environment_export.hpp"
#include "tools/run_flags.hpp"

namespace troupe {

/// Writes what the options of the job say of the environment of processes into
/// the job. A variable that a program names itself is left as it says. Tells
/// the user of settings that have no effect here, unless he wants quiet.
/// @throws CLI::ValidationError with the option, what is wrong and the remedy.
/// Source: PMIx Standard v5, PMIX_UNSET_ENVAR, PMIX_PREPEND_ENVAR.
void add_variables(spawn_request& job, const job_flags& x,
                   const environment& launcher);

} // namespace troupe
