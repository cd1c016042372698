#pragma once

#include "messages/mesh.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// A node of the DVM.
struct node_record {
  std::string name;

  /// Processes that it takes without being oversubscribed; absent: its daemon
  /// has not said yet.
  std::optional<uint32_t> slots;

  /// Processors that its daemon may use; 0: unknown.
  uint32_t processors = 0;

  /// Processes that it never has more of; 0: any number.
  uint32_t max_slots = 0;
  node_state state = node_state::expected;
  uint64_t incarnation = 0;

  /// Lost incarnations whose processes may still run.
  std::set<uint64_t> unfenced;

  bool takes_work() const {
    return state == node_state::live && slots && unfenced.empty();
  }
};

/// The nodes of a DVM as its root knows them: what they offer to jobs.
class dvm_nodes {
public:
  /// By rank.
  using table = std::map<uint32_t, node_record>;

  dvm_nodes() = default;

  explicit dvm_nodes(table all) : all_(std::move(all)) {
    // nop
  }

  const table& all() const {
    return all_;
  }

  const node_record& at(uint32_t rank) const {
    return all_.at(rank);
  }

  /// `number 3` for a node that nobody has named.
  std::string name_of(uint32_t rank) const;

  /// A daemon says how many processes its node takes; the list of nodes, if it
  /// says so, wins.
  void offer(uint32_t rank, uint32_t slots);

  /// A member has come or gone.
  /// @returns whether the processes of its node are gone.
  bool change(const member_changed& what);

  /// The processes of a lost incarnation run no more.
  void fenced(uint32_t rank, uint64_t incarnation) {
    all_[rank].unfenced.erase(incarnation);
  }

  /// Slots of all nodes that take work.
  uint32_t slots() const;

private:
  table all_;
};

} // namespace troupe
