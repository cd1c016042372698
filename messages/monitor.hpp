#pragma once

#include "messages/connection.hpp"
#include "messages/inspect.hpp"
#include "messages/proc_id.hpp"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace troupe {

// -- attributes of our own for PMIx_Process_monitor and in answers ------------

/// UINT32: as PMIX_MONITOR_HEARTBEAT_TIME, in milliseconds.
inline constexpr std::string_view heartbeat_ms_key =
  "troupe.monitor.heartbeat_ms";

/// UINT32: as PMIX_MONITOR_FILE_CHECK_TIME, in milliseconds.
inline constexpr std::string_view file_check_ms_key =
  "troupe.monitor.file_check_ms";

/// BOOL, for `PMIx_server_init`: the server monitors by itself what its host
/// does not, although PMIX_SERVER_ENABLE_MONITORING was not given.
/// Source: reading A18.
inline constexpr std::string_view monitor_fallback_key =
  "troupe.srv.monitor.fallback";

/// Asks the server for the monitors of the node: an array of arrays of infos.
inline constexpr std::string_view monitor_list_key = "troupe.monitor.list";

// -- messages -----------------------------------------------------------------

/// Asks the session of a process, and the session asks its connection, to take
/// all that the process has sent by now. Source: guarantees 5.9, MON-1.
struct read_now {};

TROUPE_EMPTY_MESSAGE(read_now)

/// Answers `read_now`: what was read has passed the session before.
struct unread {
  /// Bytes that the process has sent but that are not read on purpose: it has
  /// too much unanswered, or leaves too much of its answers unread.
  /// Source: guarantees 5.9, MON-2.
  uint64_t bytes = 0;
};

TROUPE_MESSAGE(unread, x.bytes)

/// Local processes are stopped on purpose, or go on: their silence meanwhile
/// is none. Source: guarantees 5.9, MON-2.
struct procs_paused {
  std::vector<proc_id> procs;
  bool paused = true;
};

TROUPE_MESSAGE(procs_paused, x.procs, x.paused)

} // namespace troupe
