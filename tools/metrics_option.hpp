#pragma once

#include <string>

namespace CLI {
class App;
}

namespace troupe {

/// Makes a command line understand `--metrics`, and refuse what is no place for
/// them.
/// @param to Gets what was given, for `metrics_place_of`.
void add_metrics_option(CLI::App& cli, std::string& to);

/// What daemons on other nodes are told when the root was given this: the same, if
/// it can be meant for them; nothing for an address of the root's own node.
std::string metrics_for_others(const std::string& option);

} // namespace troupe
