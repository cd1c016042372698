#pragma once

#include "messages/connection.hpp"
#include "messages/usage.hpp"

#include <string>

namespace troupe {

/// Reads how processes, the node, its disks and its networks use resources.
/// Processes that are gone are absent, as is what cannot be read: the memory of
/// processes of other users, if the kernel keeps it from the daemon.
/// @param root The kernel's tree, such as `/proc`.
usage_samples read_usage(const sample_usage& what, const std::string& root);

} // namespace troupe
