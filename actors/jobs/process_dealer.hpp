#pragma once

#include "actors/jobs/job_options.hpp"
#include "messages/topology.hpp"

#include <vector>

namespace troupe {

/// The logical number of the object of `kind` that contains `unit`.
uint32_t object_of(const processing_unit& unit, resource_kind kind);

/// A process that has its place on a node.
struct placed_seat {
  /// A unit of the topology where it is.
  size_t home = 0;

  /// The units that it is bound to.
  std::vector<size_t> units;
};

/// Deals processes to the objects of a node.
class process_dealer {
public:
  /// Both stay with the caller.
  process_dealer(const job_options& options, const node_topology& topology)
    : options_(options), topology_(topology) {
    // nop
  }

  /// @returns the processes in the order of their ranks; fewer if there are not
  ///          enough processors for all.
  std::vector<placed_seat> deal(size_t count) const;

  /// Whether more are bound to an object than it has processors.
  bool is_overloaded(const std::vector<placed_seat>& seats) const;

private:
  using unit_list = std::vector<size_t>;

  resource_kind cpu_kind() const;

  /// A slot is anywhere on the node.
  resource_kind map_kind() const;

  size_t count_cpus(const unit_list& units) const;

  /// The object that takes a process: each in turn, or `per_object` to the
  /// first, then to the second ...
  size_t object_for(size_t number, size_t num_objects) const;

  std::vector<placed_seat> deal_in_turn(std::vector<unit_list> homes,
                                        size_t count) const;

  /// Each process gets processors of its own, in a row within its object, or
  /// the next object that has enough left.
  std::vector<placed_seat> deal_blocks(const std::vector<unit_list>& homes,
                                       size_t count) const;

  /// Puts them into the order of their ranks.
  void rank(std::vector<placed_seat>& seats) const;

  const job_options& options_;
  const node_topology& topology_;
};

} // namespace troupe
