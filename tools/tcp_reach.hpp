#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "tools/node_facts.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Whether nodes reach each other over TCP, tried with connections that carry
// nothing.

namespace troupe {

/// A port of all addresses of this node, IPv6 and IPv4 as far as there is either.
struct open_port {
  unique_fd fd;

  /// 0: there is none.
  uint16_t number = 0;
  std::string trouble;
};

/// Takes a port that the kernel picks. The kernel completes connections to it,
/// as many as `backlog`, whether somebody accepts them or not.
open_port open_any_port(int backlog);

/// What leads from this node to others.
struct network_view {
  /// Names of interfaces that are up, loopback among them.
  std::vector<std::string> interfaces;

  /// Numeric; not those of loopback or of a link alone, unless there is no other.
  std::vector<std::string> addresses;
};

network_view look_at_networks();

/// Tries to connect to all of these at once, and waits until all have answered, or
/// so long. Not for the thread of a loop.
std::vector<reached_place>
try_to_reach(const std::vector<network_place>& places,
             std::chrono::milliseconds limit);

/// How long the name service may take: longer than a lookup of which one packet is
/// lost would make everybody else wait.
inline constexpr auto name_time = std::chrono::seconds{4};

/// The addresses of names, each once; or why there is none. Waits for the name
/// service for all of them, and so long at most. Not for the thread of a loop.
std::vector<resolved_name> resolve(const std::vector<std::string>& names,
                                   std::chrono::milliseconds limit);

} // namespace troupe
