#pragma once

#include "tools/dvm_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One of the nodes of a DVM that is up, to which a job is to go.
struct chosen_node {
  std::string name;

  /// The most slots of it to take; none: all.
  std::optional<uint32_t> slots;

  /// The most processes of the job on it, oversubscribed or not; 0: any number.
  uint32_t max_slots = 0;
};

/// Reads `--host` or `--hostfile` as a choice among the nodes of a DVM that is
/// up: `n1,n[3-5]:2`. A node without a number gives all its slots.
/// @returns no nodes if neither is given, or an error in a sentence.
caf::expected<std::vector<chosen_node>> choose_nodes(const dvm_options& x,
                                                     const file_reader& read);

/// The value of PMIX_HOST.
std::string to_string(const std::vector<chosen_node>& nodes);

/// The nodes that have a largest number of processes, as `max_slots_key` wants
/// them; empty: none.
std::string max_slots_of(const std::vector<chosen_node>& nodes);

/// How many of a node's slots the choice leaves to the job.
/// @param name The node, as the DVM calls it.
uint32_t slots_of(const std::vector<chosen_node>& nodes, std::string_view name,
                  uint32_t slots);

} // namespace troupe
