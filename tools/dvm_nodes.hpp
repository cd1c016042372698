#pragma once

#include "tools/host_list.hpp"
#include "tools/this_host.hpp"

#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A node of a DVM; its place in the list is its rank.
struct dvm_node {
  std::string name;

  /// Processes it takes; none: as many as it has processors.
  std::optional<uint32_t> slots;

  /// The most it takes when oversubscribed; 0 means any number.
  uint32_t max_slots = 0;
};

/// The nodes of a DVM whose root runs here: the root first, then as listed. A
/// root that is not in the list takes no processes.
/// @param own What this node is called in the list; empty: see `this_host`.
/// @returns `bad_param` in a sentence for a name that none can have, and for
///          two entries that are this node.
caf::expected<std::vector<dvm_node>> order_nodes(const host_list& hosts,
                                                 const this_host& here,
                                                 const std::string& own = {});

} // namespace troupe
