#pragma once

#include "tools/dvm_nodes.hpp"

#include <string>
#include <vector>

namespace troupe {

/// The nodes of a job as `--display allocation` shows them.
/// @param nodes Those without a number of slots have as many as cores; those
///              with 0 take no processes.
std::string allocation_text(const std::vector<dvm_node>& nodes);

} // namespace troupe
