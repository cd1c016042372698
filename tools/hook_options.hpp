#pragma once

#include "actors/mesh/mesh_host.hpp"

#include <string>
#include <vector>

namespace troupe {

/// What `--hook` is, on any command line.
inline constexpr auto hook_help =
  "A command of the site: checkpoint=COMMAND, restart=COMMAND or "
  "provision=COMMAND; may come again (docs/checkpoints.md)";

/// Understands settings of hooks: `NAME=COMMAND`, where the command is split
/// into words as a shell does.
/// @returns `bad_param` in a sentence that names the setting.
caf::expected<site_hooks> read_hooks(const std::vector<std::string>& settings);

} // namespace troupe
