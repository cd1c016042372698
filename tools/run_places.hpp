#pragma once

#include "messages/spawn.hpp"
#include "tools/command_words.hpp"
#include "tools/run_flags.hpp"

namespace troupe {

/// Writes what the options say of places, ranks and processors into the job,
/// in the Standard's attributes, and checks it by the rules of whoever puts
/// processes there, so that it is refused before anything is started.
/// @param from The options as they were typed, for errors.
/// @throws CLI::ValidationError that names what was typed, and the remedy.
/// Source: PMIx Standard v5, PMIX_MAPBY, PMIX_RANKBY, PMIX_BINDTO,
/// PMIX_CPU_LIST, PMIX_REPORT_BINDINGS.
void add_places(spawn_request& job, const job_flags& x,
                const command_segment& from);

} // namespace troupe
