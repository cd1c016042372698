#pragma once

#include <cstddef>

// Bounds and times of tools/ that several of its files use.

namespace troupe::defaults {

/// Names that a list of nodes, or a part of one, may stand for, the bytes of
/// all of them, and the bytes of a file with such a list; X48 of the
/// guarantees.
inline constexpr size_t host_list_names = size_t{1} << 20;
inline constexpr size_t host_list_name_bytes = size_t{32} << 20;
inline constexpr size_t host_file_bytes = size_t{32} << 20;

} // namespace troupe::defaults
