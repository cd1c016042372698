#pragma once

#include "messages/control.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// `troupe monitor add`.
struct add_monitor {
  std::string dvm;
  monitor_request what;
  bool json = false;
};

/// `troupe monitor cancel`.
struct cancel_monitor {
  std::string dvm;
  monitor_request what;
};

using monitor_order = std::variant<add_monitor, cancel_monitor>;

/// Reads the command line of `troupe monitor add` and `cancel`.
/// @returns what to do, or the exit status if there is nothing to do: help was
///          printed, or one line on stderr says what is wrong.
std::variant<monitor_order, int>
parse_monitor_options(std::vector<std::string> args);

/// `troupe monitor add`, `list` and `cancel`.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int monitor(std::vector<std::string> args);

} // namespace troupe
