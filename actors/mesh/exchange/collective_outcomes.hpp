#pragma once

#include "messages/mesh.hpp"

#include <deque>
#include <map>
#include <memory>
#include <tuple>

namespace troupe {

/// Names one collective operation over nodes. Copies share the participants.
struct collective_key {
  uint64_t generation = 0;
  collective_kind kind = collective_kind::fence;
  std::shared_ptr<const std::vector<proc_id>> procs;

  bool operator<(const collective_key& x) const {
    // Of those that are known together most differ in the first.
    return std::tie(generation, kind) != std::tie(x.generation, x.kind)
             ? std::tie(generation, kind) < std::tie(x.generation, x.kind)
             : procs != x.procs && *procs < *x.procs;
  }
};

/// The outcomes of operations that are over, for nodes that ask for them: the
/// latest `defaults::collective_outcomes` of each job, and of older ones that
/// they are over.
/// Source: guarantees 5.5, COLL-2.
class collective_outcomes {
public:
  struct outcome {
    status code = status::success;
    std::string reason;

    /// The node that decided.
    uint32_t root = 0;
  };

  /// @returns nothing if the operation is not over, or its outcome forgotten.
  const outcome* find(const collective_key& key) const;

  /// Whether an operation, or a later one like it, was over and is forgotten.
  /// @pre the participants are in order
  bool is_forgotten(const mesh_collective_id& id) const;

  /// The first outcome of an operation counts.
  void add(const collective_key& key, outcome how);

  /// A job is over everywhere: nothing of it is kept.
  void forget_job(const std::string& nspace);

  size_t size() const {
    return outcomes_.size();
  }

private:
  /// Kind, participants, and the upper half of the generation.
  using signature = std::tuple<collective_kind, std::vector<proc_id>, uint32_t>;

  std::map<collective_key, outcome> outcomes_;

  /// By the first namespace of the operations, oldest first.
  std::map<std::string, std::deque<collective_key>> order_;

  /// The largest generation whose outcome has been forgotten.
  std::map<signature, uint64_t> forgotten_;
};

} // namespace troupe
