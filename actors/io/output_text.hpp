#pragma once

#include "messages/enums.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe {

/// @returns `stdout`, `stderr` or `stddiag`.
std::string_view stream_name(io_channels channel);

/// Where to cut `text` so that at most `size` bytes are in front and no
/// character is cut in two. @pre `size < text.size()`
size_t cut_position(std::string_view text, size_t size);

bool is_utf8(std::string_view text);

/// Source: RFC 4648, section 4.
std::string to_base64(std::string_view bytes);

/// @returns the text as a JSON string, with its quotes.
///          What is not UTF-8 is replaced.
std::string to_json_string(std::string_view text);

/// Adds text as a JSON string, with its quotes. @pre `is_utf8(text)`
void append_json(std::string& result, std::string_view text);

/// Adds the characters of a line to an element of XML. Markup becomes entities,
/// what cannot be printed `&#010;` with the number of the character, as
/// OpenPMIx does; what is not UTF-8 `&#` with the number of the byte. Control
/// characters that XML has not, which no reader would take, become the picture
/// of the character: `&#9243;` (U+241B) for the byte 27.
void append_xml(std::string& result, std::string_view text,
                bool in_attribute = false);

/// The form of the C library's `ctime`, which OpenPMIx shows.
/// @param iso A local time such as `2025-11-20T16:43:59.123+01:00`.
/// @returns such as `Thu Nov 20 16:43:59 2025`; `iso` if it is none.
std::string to_ctime(std::string_view iso);

} // namespace troupe
