#pragma once

#include <caf/error.hpp>

#include <string>
#include <string_view>
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

/// Understands a setting, `name=value`: `plugins=DIR`, and `reaction=REACTION`,
/// which may come again.
/// @returns `bad_param` in a sentence for anything else; whether a reaction is
///          one is checked where reactions are known.
caf::error apply_setting(monitor_settings& x, std::string_view setting);

/// The same for several; stops at the first that is wrong.
caf::error apply_settings(monitor_settings& x,
                          const std::vector<std::string>& settings);

} // namespace troupe
