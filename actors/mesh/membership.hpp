#pragma once

#include "messages/proc_id.hpp"

#include <set>
#include <vector>

namespace troupe {

/// Who takes part in a collective operation on this node, who has joined, and
/// who is missing. Repeats are harmless.
/// Source: PMIx Standard v5, `PMIx_Fence`; guarantees COLL-3, COLL-5.
class membership {
public:
  explicit membership(std::set<proc_id> expected)
    : expected_(std::move(expected)) {
    // nop
  }

  /// Notes that `proc` takes part now. Who has gone and comes back joins the
  /// next operation.
  /// @returns whether it was missing.
  bool join(const proc_id& proc) {
    return is_missing(proc) && joined_.insert(proc).second;
  }

  /// Notes that `proc` will never join.
  /// @returns whether it was missing.
  bool drop(const proc_id& proc) {
    return is_missing(proc) && gone_.insert(proc).second;
  }

  /// Whether `proc` is expected and has neither joined nor gone.
  bool is_missing(const proc_id& proc) const {
    return expected_.count(proc) > 0 && joined_.count(proc) == 0
           && gone_.count(proc) == 0;
  }

  /// Whether nobody is missing.
  bool is_settled() const {
    return joined_.size() + gone_.size() == expected_.size();
  }

  const std::set<proc_id>& joined() const {
    return joined_;
  }

  const std::set<proc_id>& gone() const {
    return gone_;
  }

  /// Who has neither joined nor gone.
  std::vector<proc_id> missing() const {
    auto result = std::vector<proc_id>{};
    for (const auto& proc : expected_)
      if (is_missing(proc))
        result.push_back(proc);
    return result;
  }

private:
  std::set<proc_id> expected_;
  std::set<proc_id> joined_;
  std::set<proc_id> gone_;
};

} // namespace troupe
