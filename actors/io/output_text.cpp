#include "actors/io/output_text.hpp"

#include "config/escape.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace troupe {

std::string_view stream_name(io_channels channel) {
  switch (channel) {
    case io_channels::stderr_:
      return "stderr";
    case io_channels::stddiag:
      return "stddiag";
    default:
      return "stdout";
  }
}

size_t cut_position(std::string_view text, size_t size) {
  constexpr size_t longest_character = 4;
  const auto is_inside = [&](size_t i) {
    return (static_cast<uint8_t>(text[i]) & 0xc0) == 0x80;
  };
  for (size_t back = 0; back < longest_character && back < size; ++back)
    if (!is_inside(size - back))
      return size - back;
  return size;
}

bool is_utf8(std::string_view text) {
  constexpr uint64_t high_bits = 0x8080808080808080;
  while (!text.empty()) {
    // Mostly it is ASCII.
    uint64_t eight = 0;
    if (text.size() >= sizeof(eight)) {
      std::memcpy(&eight, text.data(), sizeof(eight));
      if ((eight & high_bits) == 0) {
        text.remove_prefix(sizeof(eight));
        continue;
      }
    }
    const auto length = utf8_length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_base64(std::string_view bytes) {
  constexpr auto alphabet = std::string_view{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t k) -> uint32_t {
      return i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0;
    };
    const auto bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    result += alphabet[bits >> 18];
    result += alphabet[bits >> 12 & 63];
    result += i + 1 < bytes.size() ? alphabet[bits >> 6 & 63] : '=';
    result += i + 2 < bytes.size() ? alphabet[bits & 63] : '=';
  }
  return result;
}

std::string to_json_string(std::string_view text) {
  using json = nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

void append_json(std::string& result, std::string_view text) {
  result += '"';
  size_t shown = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\')
      continue;
    result += text.substr(shown, i - shown);
    shown = i + 1;
    char number[8];
    switch (c) {
      case '"':
      case '\\':
        result += '\\';
        result += text[i];
        break;
      case '\n':
        result += "\\n";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\b':
        result += "\\b";
        break;
      case '\f':
        result += "\\f";
        break;
      default:
        std::snprintf(number, sizeof(number), "\\u%04x", c);
        result += number;
    }
  }
  result += text.substr(shown);
  result += '"';
}

namespace {

/// Where Unicode has a picture of each control character.
constexpr int control_pictures = 0x2400;

/// U+FFFE and U+FFFF. Source: XML 1.0, "Char".
bool is_no_xml_character(std::string_view x) {
  return x == "\xef\xbf\xbe" || x == "\xef\xbf\xbf";
}

} // namespace

void append_xml(std::string& result, std::string_view text, bool in_attribute) {
  size_t shown = 0;
  const auto replace = [&](size_t at, size_t length, const char* entity) {
    result += text.substr(shown, at - shown);
    result += entity;
    shown = at + length;
  };
  char number[8];
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c == '&') {
      replace(i, 1, "&amp;");
    } else if (c == '<') {
      replace(i, 1, "&lt;");
    } else if (c == '>') {
      replace(i, 1, "&gt;");
    } else if (c == '"' && in_attribute) {
      replace(i, 1, "&quot;");
    } else if (const auto length = c < 0x80 ? 0 : utf8_length(text.substr(i));
               length > 0 && !is_no_xml_character(text.substr(i, length))) {
      i += length - 1;
    } else if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
      std::snprintf(number, sizeof(number), "&#%d;", control_pictures + c);
      replace(i, 1, number);
    } else if (c < 0x20 || c >= 0x7f) {
      std::snprintf(number, sizeof(number), "&#%03d;", c);
      replace(i, 1, number);
    }
  }
  result += text.substr(shown);
}

std::string to_ctime(std::string_view iso) {
  constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed",
                                            "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr",
                                               "May", "Jun", "Jul", "Aug",
                                               "Sep", "Oct", "Nov", "Dec"};
  std::string text{iso};
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  char time[9] = {};
  if (std::sscanf(text.c_str(), "%4u-%2u-%2uT%8[0-9:]", &year, &month, &day,
                  time)
        != 4
      || month < 1 || month > 12 || day < 1 || day > 31)
    return text;
  // Zeller's congruence: January and February belong to the year before.
  const auto y = month < 3 ? year - 1 : year;
  const auto m = month < 3 ? month + 12 : month;
  const auto weekday =
    (day + 13 * (m + 1) / 5 + y + y / 4 - y / 100 + y / 400 + 6) % 7;
  char result[64];
  std::snprintf(result, sizeof(result), "%s %s %2u %s %u", days[weekday],
                months[month - 1], day, time, year);
  return result;
}

} // namespace troupe
