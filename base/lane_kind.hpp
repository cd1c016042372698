#pragma once

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What carries the bytes of a lane. All else is the same for all kinds: proof
/// of identity, frames, sessions. Source: requirements O5, O12, O16, L3.
enum class lane_kind : uint8_t {
  /// TCP between two addresses, IPv4 or IPv6.
  tcp,

  /// A UNIX-domain socket between two daemons of one machine and one user.
  local,
};

/// The kind of the lanes that an address belongs to: names of local sockets
/// begin with `@`, numeric addresses never do.
constexpr lane_kind lane_kind_of(std::string_view address) noexcept {
  return !address.empty() && address.front() == '@' ? lane_kind::local
                                                    : lane_kind::tcp;
}

/// As options and reports write it: `tcp`, `unix`.
std::string_view text_of(lane_kind x);

/// Traffic rides the usable lanes with the lowest number, whatever the round
/// trips of the others are: what never leaves the machine is no load for its
/// networks, and shares none of their failures.
constexpr uint8_t lane_tier_of(lane_kind x) noexcept {
  return x == lane_kind::local ? 0 : 1;
}

/// The kinds of lanes that a node has.
struct lane_kinds {
  bool tcp = true;
  bool local = true;
};

/// Reads the kinds that somebody wants; none: all.
/// @returns `bad_param` in a sentence for a word that is no kind.
caf::expected<lane_kinds>
read_lane_kinds(const std::vector<std::string>& words);

} // namespace troupe
