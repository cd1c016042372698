#pragma once

#include <string>
#include <vector>

namespace troupe {

/// What a site says on the monitors of a node.
struct monitor_settings {
  /// What is done on alerts, unless monitor or job say otherwise; see
  /// docs/monitoring.md.
  std::vector<std::string> reactions;

  /// Where kinds of monitors are that the site has added, as shared objects;
  /// empty: there are none.
  std::string plugins;
};

} // namespace troupe
