#pragma once

#include "config/settings.hpp"

#include <caf/expected.hpp>

#include <string>
#include <vector>

namespace troupe {

/// The settings of all users of a node.
inline constexpr auto system_settings_file = "/etc/troupe/troupe.toml";

/// The user's own, which come after them: `$XDG_CONFIG_HOME/troupe/troupe.toml`,
/// else below `~/.config`; empty if neither is known.
/// Source: XDG Base Directory Specification: a path that is relative is none.
std::string user_settings_file();

/// Reads a file of settings.
/// @returns what is wrong, see `read_settings`; also if the file is none or
///          cannot be read. A file that is not there sets nothing.
std::vector<std::string> read_settings_file(const std::string& path,
                                            site_settings& out);

/// What holds for a daemon or a launcher: the file of the node, over it the
/// user's, over it the environment, over it the command line. Root takes a
/// user's file only if root owns it and not everybody may write it.
/// @param words What `--set` was given, `NAME=VALUE`.
/// @returns `bad_param` in a line that names file and line, variable or option,
///          and the remedy.
caf::expected<site_settings>
load_settings(const std::vector<std::string>& words);

} // namespace troupe
