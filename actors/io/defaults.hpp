#pragma once

#include <cstddef>

// Bounds and times of actors/io/ that several of its files use.

namespace troupe::defaults {

/// What is kept of a stream for sinks that come later, and of all streams of a
/// node: beyond it, the longest tails are cut. Source: A45.
inline constexpr size_t io_tail = size_t{1} << 20;
inline constexpr size_t io_tails_total = size_t{16} << 20;

/// Subscriptions of one node (L15), and of one requester.
inline constexpr size_t io_subscriptions = size_t{1} << 16;
inline constexpr size_t io_subscriptions_per_requester = 1024;

/// Begins of lines, of all streams that a terminal, file or tool shows: beyond
/// it, they are shown before they are complete.
inline constexpr size_t io_unfinished_lines = size_t{4} << 20;

} // namespace troupe::defaults
