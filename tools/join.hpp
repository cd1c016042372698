#pragma once

namespace troupe {

/// `trouped --join`: becomes a member of the DVM whose root started us; what
/// it needs comes on standard input. Goes on in the background once it has
/// joined, unless it stays attached.
/// @returns the exit status: 1 for what is wrong here, 3 if it cannot join.
int join(bool stays_attached);

} // namespace troupe
