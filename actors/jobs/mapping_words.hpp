#pragma once

#include "actors/jobs/job_options.hpp"

namespace troupe {

/// Reads where the processes of a job go: PMIX_MAPBY, PMIX_PPR, PMIX_RANKBY,
/// PMIX_BINDTO, PMIX_CPUS_PER_PROC, PMIX_CPU_LIST, PMIX_NO_OVERSUBSCRIBE,
/// PMIX_NO_PROCS_ON_HEAD and PMIX_REPORT_BINDINGS. Words count whatever their
/// case.
/// @returns `not_supported` for a word that is none, `bad_param` for a value
///          that is none, with the attribute, its value and the remedy.
/// Source: PMIx Standard v5, "Spawn-specific attributes"; the words of mpirun 4
/// and of PRRTE.
caf::error read_mapping_words(const std::vector<info>& infos,
                              job_options& options);

std::string lower_case(std::string text);

} // namespace troupe
