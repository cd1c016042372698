#pragma once

#include "messages/data.hpp"

#include <cstdint>
#include <vector>

namespace troupe {

/// Data of the ranks of a job as they came: a process asks for those of few others.
/// All of them have reserved keys.
class packed_ranks {
public:
  virtual ~packed_ranks() = default;

  /// What there is of a rank, in the order in which it came.
  virtual std::vector<key_value> of(uint32_t rank) const = 0;

  /// From now on there is nothing of a rank.
  virtual void drop(uint32_t rank) = 0;

  /// The ranks of which there is something.
  virtual std::vector<uint32_t> ranks() const = 0;
};

} // namespace troupe
