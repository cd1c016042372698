#pragma once

#include "messages/control.hpp"
#include "messages/proc_id.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

#include <caf/expected.hpp>

#include <nlohmann/json_fwd.hpp>

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

// What a DVM answers to a request for control, for people and for programs.

struct control_answer {
  status code = status::success;
  std::vector<info> infos;
};

/// The answer as JSON: `status` (its name), and what it tells under short
/// names: `reason`, `reached`, `absent`, `missing`, `ignored`, `cancelled`,
/// `id`, `nspace`; other keys as they are. A process is `NAMESPACE:RANK`.
nlohmann::json to_json(const control_answer& x);

/// What was done, in a line without its end: `reached 4 processes`; empty if
/// the answer does not say.
std::string to_text(const control_answer& x);

/// Why it was not done, or not all of it, in a line. What it quotes cannot
/// reach the terminal.
std::string complaint_of(const control_answer& x);

/// See `ctl`.
int exit_status_of(const control_answer& x);

/// The answer to the query for requests: an array of objects, as `to_json` has
/// them, with `requestor`, `what`, `state` and `status`.
nlohmann::json read_requests(const value& x);

/// Requests as aligned columns under a line of titles.
std::string requests_to_text(const nlohmann::json& x);

// What users write of processes to be controlled.

/// The most processes that one command names.
inline constexpr size_t max_control_targets = 65536;

/// Reads `NAMESPACE`, `NAMESPACE:*` or `NAMESPACE:RANKS`, where ranks are a
/// list such as `0,4-7`.
/// @returns `bad_param` in a sentence.
caf::expected<std::vector<proc_id>> read_targets(const std::string& text);

/// `troupe ctl`: controls the processes of a DVM or launcher.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 0 if it is done, 1 if it is refused or fails, 2
///          for a mistake in `args`, 3 if it is done to some of the processes,
///          124 if it is not done in time.
int ctl(std::vector<std::string> args);

} // namespace troupe
