#pragma once

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A set of numbers as ranges: `0-3,8`.
std::string to_ranges(std::vector<uint32_t> numbers);

/// Reads `0-3,8`, in the order given; at most as many as a node has processors.
/// @returns `bad_param` with what it should look like.
caf::expected<std::vector<uint32_t>> parse_numbers(std::string_view text);

} // namespace troupe
