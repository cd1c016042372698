#pragma once

#include "actors/monitors/file_watch.hpp"
#include "messages/control.hpp"
#include "messages/enums.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What a request to monitor comes to.
enum class monitor_task : uint8_t {
  /// Watch the requestor's beats, or no longer.
  heartbeat,
  no_heartbeat,

  /// Watch files.
  files,

  /// One beat.
  beat,

  /// End monitors.
  cancel,

  /// Tell of the use of resources.
  usage,

  /// Start a monitor of a named kind.
  kind,

  /// Nothing that is known here: for the host.
  other,
};

/// A request to monitor, with all of its directives.
struct monitor_plan {
  monitor_task task = monitor_task::other;

  /// PMIX_MONITOR_ID; of `cancel` whom it is for: none means all of the
  /// requestor's.
  std::optional<std::string> id;

  /// How alerts look: the code is that of the kind unless the request had one.
  status code = status::success;
  data_range range = data_range::nspace;

  /// PMIX_MONITOR_APP_CONTROL: nobody but the program reacts.
  bool app_control = false;

  /// Of heartbeats: the longest silence that is no alert.
  std::chrono::nanoseconds window{0};

  /// Without `who`.
  std::vector<watched_file> files;

  /// The name of the kind.
  std::string kind;

  /// What alerts carry besides: PMIX_EVENT_CUSTOM_RANGE and its like.
  std::vector<info> event_infos;

  /// What is to be done on alerts: those directives that are
  /// `troupe.monitor.reaction`.
  std::vector<info> settings;
};

/// Reads a request. Refused are
///   - with `bad_param` numbers, names and paths that make no sense, and what
///     has to be there but is not;
///   - with `not_supported` directives that are required but not known, unless
///     the request is for somebody else.
/// Source: RFC0015, "Monitoring"; PMIx Standard v5, `PMIx_Process_monitor`;
/// readings A18 to A24.
caf::expected<monitor_plan> plan_monitor(const monitor_request& request);

/// Whether a key asks for the use of resources.
bool is_usage_key(const std::string& key);

} // namespace troupe
