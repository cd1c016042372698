#include "adapters/settings/settings_text.hpp"

#include "base/escape.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <optional>
#include <utility>

// The parser, which is templates and tables, is built here and nowhere else.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// What it asserts is not so for some files, such as one of "[%", and it goes on to say
// what is wrong with them: nothing is to end there, or be taken for granted.
#define TOML_ASSERT(expr) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace troupe {

namespace {

/// Most of a name or a reason that is shown.
constexpr size_t shown_bytes = 120;

std::string shown(std::string_view text) {
  auto result = escape_control_characters(text.substr(0, shown_bytes));
  std::replace(result.begin(), result.end(), '\t', ' ');
  return text.size() > shown_bytes ? result + "..." : result;
}

/// What a value is called in TOML.
std::string_view name_of(toml::node_type x) {
  switch (x) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or a time of day";
  }
}

/// A value that a setting may have, as TOML has it.
std::string example_of(const setting_info& x) {
  if (x.type == setting_type::flag)
    return "true or false";
  const auto text = x.type == setting_type::bytes ? std::string{"\"64M\""}
                    : x.type == setting_type::time
                      ? std::string{"\"30s\""}
                      : text_of(x, std::max(x.least, x.standard));
  return (x.type == setting_type::number ? "a whole number such as "
                                         : "a string such as ")
         + text;
}

/// One reading of a text.
class reader {
public:
  reader(const std::string& file, site_settings& out) : file_(file), out_(out) {
    // nop
  }

  void read(const toml::table& top);

  void note(const toml::source_position& where, const std::string& what) {
    add(where, place(where) + ": " + what);
  }

  /// By line: a table gives its keys in the order of their letters.
  std::vector<std::string> take_faults() {
    std::stable_sort(
      faults_.begin(), faults_.end(),
      [](const auto& x, const auto& y) { return x.first < y.first; });
    auto result = std::vector<std::string>{};
    for (auto& [line, text] : faults_)
      result.push_back(std::move(text));
    return result;
  }

private:
  std::string place(const toml::source_position& x) const {
    return file_ + ":" + std::to_string(x.line);
  }

  void add(const toml::source_position& where, std::string line) {
    if (faults_.size() < defaults::settings_faults)
      faults_.emplace_back(where.line, std::move(line));
  }

  void read_section(std::string_view name, const toml::table& section);
  void read_value(const setting_info& x, const toml::node& value);

  const std::string& file_;
  site_settings& out_;
  std::vector<std::pair<uint32_t, std::string>> faults_;
};

/// Whether a name begins that of a setting, up to its dot.
bool is_section(std::string_view name) {
  const auto& all = all_settings();
  return std::any_of(all.begin(), all.end(), [&](const setting_info& x) {
    return x.name.substr(0, x.name.find('.')) == name;
  });
}

void reader::read(const toml::table& top) {
  for (const auto& [key, value] : top) {
    const auto name = key.str();
    if (!is_section(name))
      note(key.source().begin, "there is no section \"" + shown(name)
                                 + "\"; troupe config show lists all settings");
    else if (const auto* section = value.as_table())
      read_section(name, *section);
    else
      note(key.source().begin, shown(name) + " is a section, not "
                                 + std::string{name_of(value.type())}
                                 + "; write [" + shown(name)
                                 + "] and its settings below");
  }
}

void reader::read_section(std::string_view name, const toml::table& section) {
  for (const auto& [key, value] : section) {
    const auto full = std::string{name} + "." + std::string{key.str()};
    if (const auto* x = find_setting(full))
      read_value(*x, value);
    else
      note(key.source().begin, "there is no setting \"" + shown(full)
                                 + "\"; troupe config show lists them all");
  }
}

void reader::read_value(const setting_info& x, const toml::node& value) {
  const auto where = value.source().begin;
  auto err = caf::error{};
  if (const auto* flag = value.as_boolean();
      flag != nullptr && x.type == setting_type::flag) {
    err = out_.set(x.id, flag->get() ? uint64_t{1} : uint64_t{0}, place(where));
  } else if (const auto* number = value.as_integer();
             number != nullptr
             && (x.type == setting_type::number
                 || x.type == setting_type::bytes)) {
    // As text, so that what is negative is told as it stands there.
    err = out_.set(x.id, std::to_string(number->get()), place(where));
  } else if (const auto* text = value.as_string();
             text != nullptr
             && (x.type == setting_type::bytes
                 || x.type == setting_type::time)) {
    err = out_.set(x.id, std::string_view{text->get()}, place(where));
  } else {
    note(where, std::string{x.name} + " is "
                  + std::string{name_of(value.type())}
                  + ", which it cannot be; write " + example_of(x));
    return;
  }
  // It begins with the place.
  if (err)
    add(where, reason_of(err));
}

} // namespace

namespace {

/// A text as the parser gets it: letters of all languages stand in comments, and
/// nowhere else, and it does not survive all of them.
/// @returns nothing if there are other characters, with the place of the first.
std::optional<std::string> plain(std::string_view text, size_t& bad) {
  auto result = std::string{text};
  auto is_comment = false;
  for (size_t i = 0; i < result.size(); ++i) {
    const auto byte = static_cast<unsigned char>(result[i]);
    is_comment = byte != '\n' && (is_comment || byte == '#');
    const auto is_plain = (byte >= 0x20 && byte < 0x7f) || byte == '\t'
                          || byte == '\n' || byte == '\r';
    if (is_plain)
      continue;
    if (!is_comment || byte < 0x80) {
      bad = i;
      return std::nullopt;
    }
    result[i] = '?';
  }
  return result;
}

} // namespace

std::vector<std::string> read_settings(std::string_view text,
                                       const std::string& file,
                                       site_settings& out) {
  auto result = reader{file, out};
  if (text.size() > defaults::settings_file_bytes)
    return {file + ": has more than "
            + std::to_string(defaults::settings_file_bytes)
            + " bytes; settings take a few lines"};
  auto bad = size_t{0};
  const auto taken = plain(text, bad);
  if (!taken) {
    const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<long>(bad), '\n');
    return {file + ":" + std::to_string(line)
            + ": has a character that no setting has ("
            + escape_control_characters(text.substr(bad, 1))
            + "); write settings in TOML, see docs/settings.md"};
  }
  const auto parsed = toml::parse(*taken, file);
  if (parsed)
    result.read(parsed.table());
  else
    result.note(parsed.error().source().begin,
                shown(parsed.error().description())
                  + "; write settings in TOML, see docs/settings.md");
  return result.take_faults();
}

} // namespace troupe
