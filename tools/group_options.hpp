#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// `troupe group list`, `show` and `watch`.
struct group_order {
  enum class verb : uint8_t { list, show, watch };

  verb what = verb::list;
  std::string dvm;

  /// Which group; empty: all.
  std::string id;
  bool json = false;

  /// For `watch`: how often to ask.
  std::chrono::milliseconds interval{1000};
};

/// The shortest time between two questions of `watch`.
inline constexpr auto shortest_group_interval = std::chrono::milliseconds{100};

/// Reads the command line of `troupe group`.
/// @returns what to do, or the exit status if there is nothing to do: help was
///          printed, or one line on stderr says what is wrong.
std::variant<group_order, int>
parse_group_options(std::vector<std::string> args);

} // namespace troupe
