#pragma once

#include "messages/status.hpp"
#include "messages/value.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

// What a DVM answers to a request for control, for people and for programs.

namespace troupe {

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

} // namespace troupe
