#pragma once

// A literal, for texts that are made without a library.
#define TROUPE_JSON_SCHEMA "1"

namespace troupe {

/// The version of what our programs print as JSON. It grows when a member goes
/// or means something else; members may come at any time. Source: docs/json.md.
inline constexpr int json_schema = 1;

} // namespace troupe
