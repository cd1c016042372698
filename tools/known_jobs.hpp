#pragma once

#include "messages/proc_id.hpp"
#include "tools/tool_session.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace troupe {

/// The jobs of a DVM, and the ranks of each.
using known_jobs = std::map<std::string, std::set<uint32_t>>;

caf::expected<known_jobs> ask_jobs(tool_session& to,
                                   std::chrono::milliseconds limit);

/// @returns why a process or job (`rank_wildcard`) is none of these, in a
///          sentence with what there is; nothing if it is.
std::string refusal_of(const known_jobs& known, const proc_id& x);

} // namespace troupe
