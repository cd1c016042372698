#pragma once

#include "tools/view_options.hpp"

namespace troupe {

/// Shows streams as a tool of a DVM until they are over, the user detaches, or
/// nobody reads what is shown.
/// @returns the exit status, see `attach`.
int view_streams(view_order order);

} // namespace troupe
