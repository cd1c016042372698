#pragma once

#include <caf/expected.hpp>

#include <string>
#include <string_view>

// Compressed strings: four bytes with the length of the text in the byte order
// of the host that made them, then a zlib stream.
// Source: OpenPMIx wire protocol, compressed strings.

namespace troupe::wire {

/// The longest text that we expand, and the most that a text over 64 KiB may be
/// longer than its compressed form. Source: guarantees, limit on expansion
/// (L5), X17.
inline constexpr size_t max_inflated_size = size_t{32} << 20;
inline constexpr size_t max_inflation = 100;

/// Expands a compressed string. Memory follows what the stream really yields,
/// not the length that it announces.
/// @returns the text; an error if the stream is damaged, is longer or shorter
///          than it says, or exceeds a limit.
caf::expected<std::string> inflate_text(std::string_view compressed);

/// The same for what a program asks to expand itself: only what zlib can do
/// limits the length, which is about 1030 times that of the compressed form.
caf::expected<std::string> inflate_block(std::string_view compressed);

/// Compresses a text.
/// @pre `text.size() < UINT32_MAX`
std::string deflate_text(std::string_view text);

} // namespace troupe::wire
