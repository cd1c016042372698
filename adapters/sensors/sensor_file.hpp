#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Files of the kernel with a number or a few lines. What is in them is checked
// like anything from outside: the root of the tree is a setting.

namespace troupe {

/// Reads a regular file of at most `defaults::sensor_file_bytes`. May block.
/// @returns nothing if there is none, if it is longer, or cannot be read.
std::optional<std::string> read_sensor_file(const std::string& path);

/// The whole number that is all of a text, but for blanks around it.
std::optional<int64_t> whole_number(std::string_view text);

/// The same of a file.
std::optional<int64_t> read_whole_number(const std::string& path);

/// The first line of a file, without control characters and shortened to what
/// fits into an event; empty if there is none.
std::string read_label(const std::string& path);

/// The number behind a name, in a text with a `name number` a line, such as
/// /proc/vmstat.
std::optional<int64_t> number_named(std::string_view text,
                                    std::string_view name);

/// The entries of a directory whose names are `prefix`, a number, and `suffix`,
/// in the order of their numbers; at most `defaults::sensor_devices`.
std::vector<std::string> numbered_entries(const std::string& directory,
                                          std::string_view prefix,
                                          std::string_view suffix = {});

} // namespace troupe
