#pragma once

#include "config/settings.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

namespace defaults {

/// Bytes of a file of settings, and how many of its faults are told.
inline constexpr size_t settings_file_bytes = size_t{256} << 10;
inline constexpr size_t settings_faults = 20;

} // namespace defaults

/// Reads settings in TOML: a table for each section, `true` and `false` for
/// flags, whole numbers, and strings such as `"64M"` and `"30s"`; bytes may be
/// whole numbers, too.
/// @param file How the text is called in faults and origins, which name the
///             line: `/etc/troupe/troupe.toml:3`.
/// @param out  Gets what is right.
/// @returns what is wrong, each in a line with its place and the remedy; none:
///          all is right.
std::vector<std::string> read_settings(std::string_view text,
                                       const std::string& file,
                                       site_settings& out);

} // namespace troupe
