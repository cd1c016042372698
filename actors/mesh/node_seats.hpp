#pragma once

#include "actors/jobs/job_options.hpp"
#include "actors/mesh/host_limit.hpp"
#include "actors/mesh/node_mapping.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe {

/// A node that the processes of a program may go to.
struct node_seat {
  const mapping_node* node = nullptr;

  /// How many more it takes without being oversubscribed.
  uint32_t room = 0;

  /// How many more it takes whatever is allowed.
  uint32_t limit = 0;

  /// Processes of the program on it.
  uint32_t count = 0;
};

/// Whether `name` means this node: whole, or up to its first dot.
bool is_called(const mapping_node& node, const std::string& name);

caf::error unknown_node(const std::string& name);

/// Leaves only the seats that some hosts give, with as much room as they say.
/// @returns `not_found` for a name that is no node.
caf::error keep_hosts(std::vector<node_seat>& seats,
                      const std::vector<host_limit>& hosts,
                      const std::vector<mapping_node>& nodes);

/// The most processes that `ppr` puts on a node.
uint64_t ppr_of(const node_seat& x, const job_options& options);

/// Gives `count` processes to the seats, which have room for them or may be
/// oversubscribed within their limits.
void deal(std::vector<node_seat>& seats, uint32_t count,
          const job_options& options);

/// Numbers the processes of a program, from `next` on.
void number_ranks(std::vector<node_seat>& seats, uint32_t app, uint32_t& next,
                  rank_policy policy, std::map<uint32_t, node_share>& shares);

} // namespace troupe
