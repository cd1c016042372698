#pragma once

#include <string_view>

// Attributes of ours for jobs: what the Standard has no word for.

namespace troupe {

/// BOOL, to `PMIx_Spawn` by a tool: it stays for the jobs that its job starts,
/// and those that they start; it hears of the end of each.
///
/// STRING, with PMIX_EVENT_JOB_END for such a tool: the jobs of that family
/// that go on, with commas.
inline constexpr std::string_view job_family_key = "troupe.job.family";

} // namespace troupe
