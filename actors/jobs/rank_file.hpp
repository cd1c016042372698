#pragma once

#include "messages/topology.hpp"

#include <caf/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Where a rank file puts a process.
struct rank_line {
  /// A node's name, or `+n2` for the third node that takes work.
  std::string host;

  /// Logical numbers of processors: `2`, `0-3,5`, `*`, or with their package
  /// `0:1`, `0:0-1;1:*`, in which they count from 0; empty: not bound.
  std::string slot;
};

/// Nodes and processors by rank.
using rank_file = std::vector<rank_line>;

/// Reads a rank file: a line `rank N=HOST slot=PROCESSORS` for each rank from 0
/// on, in any order; what follows `#` does not count, nor do empty lines.
/// @returns `bad_param` with the line and what it should look like.
/// Source: Open MPI, mpirun's `--rankfile`.
caf::expected<rank_file> parse_rank_file(std::string_view text);

/// The processors that `slot` of a line names.
/// @param threads  whether it counts hardware threads, rather than cores.
/// @returns their numbers as the operating system has them, or `bad_param` for
///          what the node does not have.
caf::expected<std::vector<uint32_t>>
cpus_of(const rank_line& line, const node_topology& topology, bool threads);

/// Reads a list of nodes, one a line; what follows the name or `#` does not
/// count.
/// Source: Open MPI, mpirun's `--map-by seq`.
std::vector<std::string> parse_sequence(std::string_view text);

} // namespace troupe
