#pragma once

#include "messages/group_entry.hpp"

#include <cstddef>
#include <vector>

namespace troupe {

/// How many have called.
size_t count_of(const std::vector<group_caller>& callers);

/// The bytes of what callers say and have posted, about.
size_t bytes_of(const std::vector<group_caller>& callers);

/// Sorts callers by process, and makes those one that can be.
void put_together(std::vector<group_caller>& callers);

} // namespace troupe
