#include "base/escape.hpp"

#include <cstdint>

namespace troupe {

namespace {

void append_hex(std::string& result, std::string_view bytes) {
  constexpr auto digits = std::string_view{"0123456789abcdef"};
  for (const auto c : bytes) {
    const auto x = static_cast<uint8_t>(c);
    result += "\\x";
    result += digits[x >> 4];
    result += digits[x & 15];
  }
}

/// Also the controls of ISO 6429 above 0x7f, which terminals obey too.
bool is_control(std::string_view character) {
  const auto first = static_cast<uint8_t>(character[0]);
  if (character.size() == 1)
    return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<uint8_t>(character[1]) < 0xa0;
}

} // namespace

// Source: RFC 3629, section 4.
size_t utf8_length(std::string_view text) noexcept {
  if (text.empty())
    return 0;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto first = byte(0);
  if (first < 0x80)
    return 1;
  const size_t length = first < 0xc2   ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  const auto second = byte(1);
  const auto is_overlong =
    (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const auto is_surrogate = first == 0xed && second >= 0xa0;
  const auto is_too_high = first == 0xf4 && second >= 0x90;
  return is_overlong || is_surrogate || is_too_high ? 0 : length;
}

std::string escape_control_characters(std::string_view text,
                                      bool keep_newlines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto length = utf8_length(text);
    const auto character = text.substr(0, length > 0 ? length : 1);
    if (character == "\n" && !keep_newlines)
      result += "\\n";
    else if (character == "\t" || character == "\n"
             || (length > 0 && !is_control(character)))
      result += character;
    else
      append_hex(result, character);
    text.remove_prefix(character.size());
  }
  return result;
}

} // namespace troupe
