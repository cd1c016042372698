#pragma once

#include "tools/run_options.hpp"

namespace troupe {

/// Has a DVM run the job, as a tool of it, and waits for its end.
/// @pre `options.dvm` is set.
/// @returns the exit status.
int run_in_dvm(run_options options);

} // namespace troupe
