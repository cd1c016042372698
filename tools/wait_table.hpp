#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

// What `troupe jobs --waits` shows: who has called what, and who is waited for.

namespace troupe {

/// Collective operations under way, and groups that wait for somebody, as `--json`
/// has them (docs/json.md).
/// @param operations What answers `waits_key`.
/// @param groups     What answers `group_list_key`.
nlohmann::json wait_rows(const nlohmann::json& operations,
                         const nlohmann::json& groups);

/// The same as aligned columns. What it quotes cannot reach the terminal.
std::string wait_text(const nlohmann::json& rows);

} // namespace troupe
