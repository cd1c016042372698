#pragma once

#include "messages/spawn.hpp"

#include <caf/error.hpp>

namespace troupe {

/// Reads the file that PMIX_MAPBY of a job names, `rankfile:file=F` or
/// `seq:file=F`, and puts its text into the job for whoever maps it. Without
/// such a file nothing is done.
/// @returns an error that names the file if it cannot be read.
caf::error add_mapping_file(spawn_request& job);

} // namespace troupe
