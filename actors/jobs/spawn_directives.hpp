#pragma once

#include "messages/spawn.hpp"

#include <caf/error.hpp>

#include <string_view>

namespace troupe {

/// What becomes of a directive of `PMIx_Spawn` here.
enum class spawn_fate {
  done,
  ignored, ///< refused if it is required
  refused, ///< it says where processes go, or how they begin: never passed over
};

/// The fate of a directive by its key, as base/directives.def has it; of one that
/// nobody knows `ignored`. Directives of ours are done.
/// Source: PMIx Standard v5, "Spawn-specific attributes"; PMIX_INFO_REQD.
spawn_fate fate_of_directive(std::string_view key);

/// Checks that nothing which whoever asks for a job relies on is passed over,
/// nor said by one program of several if the job has it once: a mapping above
/// all.
/// Keys of I/O forwarding are for `read_io_wiring`.
/// @returns `not_supported` with the directive and the remedy.
caf::error check_directives(const spawn_request& request);

} // namespace troupe
