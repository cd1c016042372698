#pragma once

#include "actors/groups/process_group.hpp"
#include "actors/mesh/exchange/event_sequencer.hpp"
#include "bench/scale/network.hpp"

#include <memory>
#include <vector>

namespace troupe::scale {

/// The orders of events, and the logs of groups, of nodes that run a process of
/// a job each.
class orders {
public:
  orders(uint32_t size, const costs& what);

  /// An event of the process on this node for all of the job: until the last
  /// node has it. Ends the program if one does not get it.
  figures notify(uint32_t from);

  /// All processes construct a group: until the last node has all their calls,
  /// of which the group itself is made at the first node alone. Ends the
  /// program if it is none.
  figures construct();

private:
  void deliver(uint32_t rank, ordered_content what,
               const std::function<void()>& then);
  event_sequencer::effects means_of(uint32_t rank);

  network net_;
  job_locations places_;
  rank_list ranks_;
  std::vector<std::unique_ptr<event_sequencer>> nodes_;
  std::unique_ptr<process_group> group_;

  /// Whether the nodes know the job, which events need and groups do not: each
  /// looks at a list of all of them.
  bool is_started_ = false;

  /// What each node has got of the operation, and how many have all of it.
  std::vector<size_t> got_;
  size_t wanted_ = 0;
  size_t complete_ = 0;
};

} // namespace troupe::scale
