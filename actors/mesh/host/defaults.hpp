#pragma once

#include <chrono>

// Bounds and times of actors/mesh/host/ that several of its files use.

namespace troupe::defaults {

using namespace std::chrono_literals;

/// How long who asks how nodes are connected waits for the parts of a node; and
/// twice as long for a node.
inline constexpr auto net_wait = 2s;

} // namespace troupe::defaults
