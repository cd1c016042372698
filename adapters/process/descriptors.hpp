#pragma once

#include "actors/jobs/descriptor_budget.hpp"
#include "adapters/loop/unique_fd.hpp"

#include <sys/resource.h>

// Descriptors that the process was started with. It shares their file
// descriptions with the shell and others, so O_NONBLOCK must not be set on
// them.

namespace troupe {

/// Opens the terminal, pipe or device behind `fd` once more: the result is
/// non-blocking and shares nothing with others but the thing itself.
/// @param access `O_RDONLY` or `O_WRONLY`.
/// @returns nothing if that is impossible, for sockets or by permissions.
unique_fd reopen(int fd, int access);

/// Opens /dev/null for those of the descriptors 0, 1 and 2 that are closed, so
/// that nothing else gets such a number.
void occupy_standard_descriptors();

/// Lets a write to a pipe without reader fail instead of ending the process.
void ignore_broken_pipes();

/// Raises our soft limit of open files to the hard one, which is what we may
/// have. Before there are threads; a second time does nothing.
void raise_descriptor_limit();

/// The limit that this process was started with, for those that we start;
/// nullptr if it has not been raised.
const rlimit* former_descriptor_limit();

/// What is in use of how many, and what connections leave to the rest.
descriptor_use current_descriptors();

} // namespace troupe
