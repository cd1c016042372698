#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Whole reads and writes of files, pipes and terminals: an interrupted call is
// called again, and one that moved a part goes on. On errors `errno` says which.

namespace troupe {

/// Reads `size` bytes, or as many as there are until the end.
/// @returns how many; nothing on an error.
std::optional<size_t> read_into(int fd, void* to, size_t size);

/// Reads until the end, at most `most` bytes; takes memory as bytes come.
/// @returns nothing on an error.
std::optional<std::string> read_up_to(int fd, size_t most);

/// @returns whether all was written.
bool write_all(int fd, std::string_view text);

} // namespace troupe
