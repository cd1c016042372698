#pragma once

#include "messages/status.hpp"

#include <caf/error.hpp>

#include <string>
#include <vector>

// Files that are copied to the nodes before a job starts there.

namespace troupe {

/// A file, and where the nodes get it.
struct preloaded_file {
  std::string from;

  /// Absolute.
  std::string to;
};

/// The command that copies a file: a job of ours with one process on each
/// node, which gets the file as its standard input. A node that has the same
/// file there keeps it; another gets a new one, in one step.
/// @param launcher The program that runs jobs, `troupe`.
/// @param nodes    Its options that say which nodes.
/// @param mode     The new file's permissions.
std::vector<std::string> preload_command(const preloaded_file& file,
                                         const std::string& launcher,
                                         const std::vector<std::string>& nodes,
                                         unsigned mode);

/// Copies files to the nodes, one after the other, and waits.
/// @returns what could not be copied, in a sentence; the nodes have said why on
///          standard error.
caf::error preload(const std::vector<preloaded_file>& files,
                   const std::vector<std::string>& nodes);

} // namespace troupe
