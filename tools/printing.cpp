#include "tools/printing.hpp"

#include "base/escape.hpp"
#include "base/json_schema.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <utility>

namespace troupe {

std::string notice(std::string_view who, std::string_view text) {
  return escape_control_characters(who) + ": " + escape_control_characters(text)
         + "\n";
}

namespace {

/// Takes the first character off a text, whatever it is.
void drop_character(std::string_view& text) {
  const auto length = utf8_length(text);
  text.remove_prefix(length > 0 ? length : 1);
}

} // namespace

size_t width_of(std::string_view text) {
  auto result = size_t{0};
  for (; !text.empty(); ++result)
    drop_character(text);
  return result;
}

std::string fitted(std::string_view text, size_t columns) {
  auto rest = text;
  for (size_t n = 0; n < columns && !rest.empty(); ++n)
    drop_character(rest);
  return std::string{text.substr(0, text.size() - rest.size())};
}

namespace {

using nlohmann::json;

/// Controls above 0x7e, which terminals obey and JSON lets through; they occur
/// only within strings. Source: ISO 6429; RFC 8259, section 7.
std::string without_controls(const std::string& text) {
  constexpr auto digits = std::string_view{"0123456789abcdef"};
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto is_pair = text[i] == '\xc2' && i + 1 < text.size()
                         && static_cast<uint8_t>(text[i + 1]) < 0xa0;
    if (!is_pair && text[i] != '\x7f') {
      result += text[i];
      continue;
    }
    const auto code = static_cast<uint8_t>(text[is_pair ? ++i : i]);
    result += "\\u00";
    result += digits[code >> 4];
    result += digits[code & 15];
  }
  return result;
}

std::string dump(json x, int indent) {
  x["schema"] = json_schema;
  return without_controls(
           x.dump(indent, ' ', false, json::error_handler_t::replace))
         + "\n";
}

} // namespace

std::string json_line(json x) {
  return dump(std::move(x), -1);
}

std::string json_document(json x) {
  return dump(std::move(x), 2);
}

std::string json_document(std::string_view name, json items) {
  auto result = json::object();
  result[std::string{name}] = std::move(items);
  return json_document(std::move(result));
}

} // namespace troupe
