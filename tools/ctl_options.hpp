#pragma once

#include "messages/control.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The command line of `troupe ctl`, and what it asks for.

namespace troupe {

/// Asks a DVM to control processes.
struct ctl_request {
  std::string dvm;

  /// As on the command line: `kill`.
  std::string command;
  job_control_request what;

  /// How long to wait for the answer; none: as long as the DVM is there.
  std::optional<std::chrono::seconds> limit;
  bool json = false;
};

/// Asks a DVM for its requests for control.
struct ctl_status_request {
  std::string dvm;

  /// None: all of this user.
  std::optional<std::string> id;
  bool json = false;
};

using ctl_order = std::variant<ctl_request, ctl_status_request>;

/// Reads the command line of `troupe ctl`.
/// @returns what to do, or the exit status if there is nothing to do: help was
///          printed, or one line on stderr says what is wrong.
std::variant<ctl_order, int> parse_ctl_options(std::vector<std::string> args);

} // namespace troupe
