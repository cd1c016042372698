#pragma once

#include "actors/jobs/descriptor_budget.hpp"

#include <sys/resource.h>

namespace troupe {

/// Raises our soft limit of open files to the hard one, which is what we may
/// have. Before there are threads; a second time does nothing.
void raise_descriptor_limit();

/// The limit that this process was started with, for those that we start;
/// nullptr if it has not been raised.
const rlimit* former_descriptor_limit();

/// What is in use of how many, and what connections leave to the rest.
descriptor_use current_descriptors();

} // namespace troupe
