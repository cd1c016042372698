#include "config/settings.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace troupe {

namespace {

constexpr uint64_t KiB = 1024;
constexpr uint64_t MiB = 1024 * KiB;
constexpr uint64_t GiB = 1024 * MiB;
constexpr uint64_t TiB = 1024 * GiB;
constexpr uint64_t PiB = 1024 * TiB;
constexpr uint64_t seconds = 1000;
constexpr uint64_t minutes = 60 * seconds;
constexpr uint64_t hour = 60 * minutes;
constexpr uint64_t day = 24 * hour;

struct unit {
  std::string_view name;
  uint64_t size;
};

constexpr unit sizes[] = {
  {"", 1}, {"K", KiB}, {"M", MiB}, {"G", GiB}, {"T", TiB}};
constexpr unit times[] = {
  {"ms", 1}, {"s", seconds}, {"m", minutes}, {"h", hour}};

constexpr auto variable_prefix = std::string_view{"TROUPE_"};

/// What is shown of a text that came from anywhere.
constexpr size_t shown_bytes = 80;

std::string shown(std::string_view text) {
  auto result = std::string{text.substr(0, shown_bytes)};
  std::replace_if(
    result.begin(), result.end(), [](char x) { return x < ' ' || x > '~'; },
    '?');
  return text.size() > shown_bytes ? result + "..." : result;
}

/// A number with one of these units; nothing for what is none, or too large.
template <size_t N>
std::optional<uint64_t> read_number(std::string_view text,
                                    const unit (&units)[N]) {
  auto count = uint64_t{0};
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, count);
  if (code != std::errc{})
    return std::nullopt;
  const auto name = std::string_view{rest, static_cast<size_t>(end - rest)};
  for (const auto& x : units)
    if (x.name == name && count <= UINT64_MAX / x.size)
      return count * x.size;
  return std::nullopt;
}

/// With the largest unit that leaves no rest.
template <size_t N>
std::string write_number(uint64_t value, const unit (&units)[N]) {
  const auto* best = &units[0];
  for (const auto& x : units)
    if (value > 0 && value % x.size == 0)
      best = &x;
  return std::to_string(value / best->size) + std::string{best->name};
}

std::optional<uint64_t> read_value(setting_type type, std::string_view text) {
  constexpr unit plain[] = {{"", 1}};
  switch (type) {
    case setting_type::flag:
      if (text == "true" || text == "1")
        return 1;
      if (text == "false" || text == "0")
        return 0;
      return std::nullopt;
    case setting_type::number:
      return read_number(text, plain);
    case setting_type::bytes:
      return read_number(text, sizes);
    default:
      return read_number(text, times);
  }
}

std::string_view form_of(setting_type type) {
  switch (type) {
    case setting_type::flag:
      return "true or false";
    case setting_type::number:
      return "a whole number";
    case setting_type::bytes:
      return "a number of bytes such as 67108864, 64M or 1G";
    default:
      return "a time with its unit such as 250ms, 30s, 5m or 1h";
  }
}

caf::error out_of_bounds(const setting_info& x, uint64_t value,
                         const std::string& origin) {
  return make_error(status::bad_param, origin + ": " + std::string{x.name}
                                         + " is " + text_of(x, value)
                                         + ", out of its bounds; write "
                                         + bounds_of(x));
}

} // namespace

const std::vector<setting_info>& all_settings() {
  static const auto result = std::vector<setting_info>{
#define TROUPE_SETTING(id, name, type, standard, least, most, text)            \
  {setting_id::id, name, setting_type::type, standard, least, most, text},
#include "config/settings.def"
#undef TROUPE_SETTING
  };
  return result;
}

const setting_info& info_of(setting_id id) {
  return all_settings()[static_cast<size_t>(id)];
}

const setting_info* find_setting(std::string_view name) {
  for (const auto& x : all_settings())
    if (x.name == name)
      return &x;
  return nullptr;
}

std::string variable_of(const setting_info& x) {
  auto result = std::string{variable_prefix};
  for (const auto c : x.name)
    result += c == '.'               ? '_'
              : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A')
                                     : c;
  return result;
}

std::string_view unit_of(const setting_info& x) {
  return x.type == setting_type::bytes  ? "bytes"
         : x.type == setting_type::time ? "ms"
                                        : "";
}

std::string text_of(const setting_info& x, uint64_t value) {
  switch (x.type) {
    case setting_type::flag:
      return value != 0 ? "true" : "false";
    case setting_type::number:
      return std::to_string(value);
    case setting_type::bytes:
      return write_number(value, sizes);
    default:
      return write_number(value, times);
  }
}

std::string bounds_of(const setting_info& x) {
  if (x.type == setting_type::flag)
    return std::string{form_of(x.type)};
  auto result = std::string{};
  if (x.standard < x.least || x.standard > x.most)
    result = text_of(x, x.standard) + ", or ";
  return result + text_of(x, x.least) + " to " + text_of(x, x.most);
}

caf::expected<uint64_t> parse_setting(const setting_info& x,
                                      std::string_view text) {
  if (const auto value = read_value(x.type, text))
    return *value;
  return make_error(status::bad_param, "is \"" + shown(text) + "\", not "
                                         + std::string{form_of(x.type)}
                                         + "; write " + bounds_of(x));
}

caf::error site_settings::set(setting_id id, uint64_t value,
                              std::string origin) {
  const auto& x = info_of(id);
  if (!x.allows(value))
    return out_of_bounds(x, value, origin);
  values_[id] = {value, std::move(origin)};
  return {};
}

caf::error site_settings::set(setting_id id, std::string_view text,
                              std::string origin) {
  const auto& x = info_of(id);
  const auto value = parse_setting(x, text);
  if (!value)
    return make_error(status::bad_param, origin + ": " + std::string{x.name}
                                           + " " + reason_of(value.error()));
  return set(id, *value, std::move(origin));
}

caf::error site_settings::apply_word(std::string_view word,
                                     const std::string& origin) {
  const auto middle = word.find('=');
  const auto* x = find_setting(word.substr(0, middle));
  if (middle == std::string_view::npos || x == nullptr)
    return make_error(status::bad_param,
                      origin + ": there is no setting \""
                        + shown(word.substr(0, middle))
                        + "\"; write NAME=VALUE with a name that troupe "
                          "config show lists");
  return set(x->id, word.substr(middle + 1), origin);
}

caf::error site_settings::apply_words(const std::vector<std::string>& words,
                                      const std::string& origin) {
  for (const auto& word : words)
    if (auto err = apply_word(word, origin))
      return err;
  return {};
}

caf::error site_settings::apply_environment(const char* const* variables) {
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const auto variable = std::string_view{*variables};
    if (variable.substr(0, variable_prefix.size()) != variable_prefix)
      continue;
    const auto middle = variable.find('=');
    if (middle == std::string_view::npos)
      continue;
    const auto name = std::string{variable.substr(0, middle)};
    auto is_section = false;
    const setting_info* known = nullptr;
    for (const auto& x : all_settings()) {
      const auto full = variable_of(x);
      const auto section =
        full.substr(0, variable_prefix.size() + x.name.find('.') + 1);
      is_section |= name.compare(0, section.size(), section) == 0;
      if (name == full)
        known = &x;
    }
    if (known != nullptr) {
      if (auto err = set(known->id, variable.substr(middle + 1), name))
        return err;
    } else if (is_section) {
      return make_error(status::bad_param,
                        shown(name)
                          + " is the variable of no setting; troupe config "
                            "show lists them all");
    }
  }
  return {};
}

void site_settings::apply(const site_settings& over) {
  for (const auto& [id, x] : over.values_)
    values_[id] = x;
}

uint64_t site_settings::get(setting_id id) const {
  const auto i = values_.find(id);
  return i != values_.end() ? i->second.value : info_of(id).standard;
}

std::string site_settings::origin_of(setting_id id) const {
  const auto i = values_.find(id);
  return i != values_.end() ? i->second.origin : "default";
}

} // namespace troupe
