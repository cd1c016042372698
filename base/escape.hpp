#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe {

/// @returns the length of the character that `text` begins with, in bytes; 0 if
///          it does not begin with a character in UTF-8.
size_t utf8_length(std::string_view text) noexcept;

/// Makes text from outside harmless for a terminal and for whoever reads a log
/// line by line: control characters and bytes that are not UTF-8 become `\xNN`,
/// line breaks `\n`. Tabs stay. Source: requirement X31.
/// @param keep_newlines For text of several lines.
std::string escape_control_characters(std::string_view text,
                                      bool keep_newlines = false);

} // namespace troupe
