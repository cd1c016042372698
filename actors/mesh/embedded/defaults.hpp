#pragma once

#include <chrono>

// Bounds and times of actors/mesh/embedded/ that several of its files use.

namespace troupe::defaults {

using namespace std::chrono_literals;

/// Inside another resource manager: how long requests wait for the servers of a
/// job to find each other, how long those that have greeted each other wait for
/// the last, and how long a fence waits for this node to know its networks.
inline constexpr auto mesh_request_wait = 10s;
inline constexpr auto mesh_meeting_wait = 10s;
inline constexpr auto mesh_network_wait = 2s;

} // namespace troupe::defaults
