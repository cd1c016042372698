#pragma once

#include "messages/spawn.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe {

/// Where processes of a job stand still until a debugger lets them go on.
/// Source: PMIx Standard v5, PMIX_DEBUG_STOP_IN_INIT, PMIX_DEBUG_STOP_IN_APP.
struct debug_stops {
  /// The rank that stops in `PMIx_Init`; `rank_wildcard`: all; absent: none.
  std::optional<uint32_t> in_init;

  /// The same of those that stop where their program has a place for it.
  std::optional<uint32_t> in_app;

  bool any() const noexcept {
    return in_init || in_app;
  }
};

/// PMIX_BREAKPOINT of a process that stands still in `PMIx_Init`.
/// Source: OpenPMIx 4.1 to 6.1.
inline constexpr std::string_view init_breakpoint = "pmix-init";

/// Reads which processes stop. What stands with each program of a job, or with
/// the only one, is for the whole job: processes are told of it at the level of
/// the job.
/// @returns `not_supported` for a list of processes, and for some programs of
///          several.
caf::expected<debug_stops> read_debug_stops(const spawn_request& request);

} // namespace troupe
