#pragma once

#include "runtime/mesh_keys.hpp"

#include <caf/expected.hpp>

#include <sys/types.h>

#include <string>
#include <vector>

namespace troupe {

/// Starts a daemon that reads its key from its standard input (`read_key`), or a
/// remote shell that passes it on. It leads a process group; its other streams
/// and its environment are ours, and it is our child, to be reaped. Of the
/// library `troupe_mesh`.
/// @param command The program, looked up in the PATH if it has no slash, and its
///                arguments, which everybody on the node can read.
/// @returns its process number, or why it cannot be started, in a sentence.
caf::expected<pid_t> start_daemon(std::vector<std::string> command,
                                  const node_key& key);

} // namespace troupe
