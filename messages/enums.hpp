#pragma once

#include <cstdint>

namespace troupe {

/// Who may get a posted key. Source: PMIx Standard v5, `pmix_scope_t`. The last
/// four take a key back from those of a scope; source: OpenPMIx 7, PMIX_DEL_LOCAL.
enum class scope : uint8_t {
  undef,
  local,
  remote,
  global,
  internal,
  del_local,
  del_remote,
  del_global,
  del_internal,
};

/// The scope from which one of the last four takes a key back; `undef` for others.
constexpr scope taken_from(scope x) {
  constexpr auto before = static_cast<uint8_t>(scope::internal);
  return x < scope::del_local || x > scope::del_internal
           ? scope::undef
           : static_cast<scope>(static_cast<uint8_t>(x) - before);
}

/// The scope that takes a key back from `local`, `remote`, `global` or `internal`.
constexpr scope taking_from(scope x) {
  return static_cast<scope>(static_cast<uint8_t>(x)
                            + static_cast<uint8_t>(scope::internal));
}

/// Who may see an event or a published key.
/// Source: PMIx Standard v5, `pmix_data_range_t`.
enum class data_range : uint8_t {
  undef = 0,
  rm = 1,
  local = 2,
  nspace = 3,
  session = 4,
  global = 5,
  custom = 6,
  proc_local = 7,
  invalid = 255,
};

/// How long a published key stays. Source: PMIx Standard v5,
/// `pmix_persistence_t`.
enum class persistence : uint8_t {
  indefinite = 0,
  first_read = 1,
  proc = 2,
  app = 3,
  session = 4,
  invalid = 255,
};

/// Streams of a process, as bits. Source: PMIx Standard v5,
/// `pmix_iof_channel_t`.
enum class io_channels : uint16_t {
  none = 0,
  stdin_ = 1,
  stdout_ = 2,
  stderr_ = 4,
  stddiag = 8,
};

/// Where a process stands in its life. Source: Standard v5,
/// `pmix_proc_state_t`.
enum class proc_state : uint8_t {
  undef = 0,
  prepped = 1,
  launch_underway = 2,
  restart = 3,
  terminate = 4,
  running = 5,
  connected = 6,
  unterminated = 15,
  terminated = 20,
  error = 50,
  killed_by_cmd = 51,
  aborted = 52,
  failed_to_start = 53,
  aborted_by_sig = 54,
  term_wo_sync = 55,
  comm_failed = 56,
  sensor_bound_exceeded = 57,
  called_abort = 58,
  heartbeat_failed = 59,
  migrating = 60,
  cannot_restart = 61,
  term_non_zero = 62,
  failed_to_launch = 63,
};

/// Where a job stands in its life. Source: PMIx Standard v5,
/// `pmix_job_state_t`.
enum class job_state : uint8_t {
  undef = 0,
  prepped = 1,
  launch_underway = 2,
  running = 3,
  suspended = 4,
  connected = 5,
  unterminated = 15,
  terminated = 20,
  terminated_with_error = 50,
};

} // namespace troupe
