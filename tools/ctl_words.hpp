#pragma once

#include "messages/proc_id.hpp"

#include <caf/expected.hpp>

#include <string>
#include <vector>

// What users write of processes to be controlled.

namespace troupe {

/// The most processes that one command names.
inline constexpr size_t max_control_targets = 65536;

/// Reads `NAMESPACE`, `NAMESPACE:*` or `NAMESPACE:RANKS`, where ranks are a
/// list such as `0,4-7`.
/// @returns `bad_param` in a sentence.
caf::expected<std::vector<proc_id>> read_targets(const std::string& text);

/// Reads the number of a signal or its name, with or without `SIG`: `USR1`,
/// `RTMIN+2`.
/// @returns `bad_param` in a sentence.
caf::expected<int32_t> read_signal(const std::string& text);

} // namespace troupe
