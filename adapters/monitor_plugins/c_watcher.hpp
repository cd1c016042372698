#pragma once

#include "adapters/monitor_plugins/troupe_monitor.h"
#include "base/monitor_kind.hpp"

namespace troupe {

/// The kind of a plugin in C as one of watchers.
/// @param kind Stays where it is; its interval is within `watcher_kind`'s.
watcher_kind c_watchers(const troupe_monitor_kind* kind);

} // namespace troupe
