#pragma once

#include "tools/detached.hpp"
#include "tools/join_settings.hpp"

#include <memory>

namespace troupe {

class orphan_guard;
class secure_context;

/// Is a daemon of a DVM until the DVM ends, or gives it up.
/// @param self Hears of the outcome of joining: 0 and a `join_answer`, or why
///             not.
/// @param keeps_streams Nobody waits for it: logs go where they went so far,
///                      and it looks for the root until it is told to end.
/// @param guard Sees that nothing outlives it; none: it makes one.
/// @returns the exit status: 1 for what is wrong here, 3 if it cannot join.
int run_member(join_settings settings,
               std::shared_ptr<const secure_context> context, detached self,
               bool keeps_streams = false,
               std::shared_ptr<orphan_guard> guard = nullptr);

} // namespace troupe
