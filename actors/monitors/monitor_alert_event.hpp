#pragma once

#include "actors/monitors/monitor_table.hpp"
#include "messages/event.hpp"

#include <string>

namespace troupe {

/// What an alert tells.
struct alert_facts {
  /// The process that is monitored: the event is raised in its name.
  proc_id proc;

  /// PMIX_MONITOR_FILE; empty: no file is monitored.
  std::string file;

  /// Why, in a sentence.
  std::string reason;

  /// What the monitor itself adds.
  std::vector<info> infos;
};

/// The event of an alert, for everybody in its range who has a handler for its
/// code, the process itself included. It carries PMIX_EVENT_AFFECTED_PROC,
/// PMIX_MONITOR_ID, PMIX_MONITOR_FILE, and PMIX_EVENT_TEXT_MESSAGE.
/// Source: RFC0015, "Monitoring"; reading A20.
notify_request make_alert(const monitor_entry& of, const alert_facts& facts);

} // namespace troupe
