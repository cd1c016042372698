#include "tools/help_page.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr auto usage_mark = std::string_view{"Usage: "};
constexpr auto options_mark = std::string_view{"[OPTIONS]"};

/// Where the descriptions of options begin. Source: CLI11, column_width.
constexpr size_t column = 30;

/// Splits at a sign, without empty parts.
std::vector<std::string> parts(std::string_view text, char sign) {
  auto result = std::vector<std::string>{};
  for (size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(sign, begin), text.size());
    if (end > begin)
      result.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// Reads `Usage: troupe ctl term [OPTIONS] TARGET...`.
void read_usage(std::string_view line, help_page& page) {
  const auto at = line.find(options_mark);
  if (at == std::string_view::npos)
    return;
  for (auto word : parts(line.substr(at + options_mark.size()), ' ')) {
    word.erase(std::remove_if(word.begin(), word.end(),
                              [](char c) { return c == '[' || c == ']'; }),
               word.end());
    const auto dots = word.find("...");
    page.repeats = dots != std::string::npos;
    page.positionals.push_back(word.substr(0, dots));
  }
}

/// Reads `  -n,--np INT  description`, from the first dash on.
help_option read_option(std::string_view line) {
  auto result = help_option{};
  const auto end = std::min(line.find(' '), line.size());
  auto names = line.substr(0, end);
  names = names.substr(0, names.find('{'));
  result.names = parts(names, ',');
  const auto next = line.find_first_not_of(' ', end);
  result.takes_value =
    next != std::string_view::npos && next == end + 1 && next + 2 != column;
  if (!result.takes_value)
    return result;
  const auto value = line.substr(next, line.find("  ", next) - next);
  const auto open = value.find('{');
  const auto close = value.find('}');
  if (open != std::string_view::npos && close != std::string_view::npos
      && open < close)
    result.choices = parts(value.substr(open + 1, close - open - 1), ',');
  return result;
}

} // namespace

help_page read_help(std::string_view text) {
  auto result = help_page{};
  auto is_list = false;
  for (size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line == "Commands:") {
      is_list = true;
    } else if (line.empty()) {
      is_list = false;
    } else if (line.substr(0, usage_mark.size()) == usage_mark) {
      read_usage(line, result);
    } else if (line.substr(0, 3) == "  -") {
      result.options.push_back(read_option(line.substr(2)));
    } else if (is_list && line.size() > 2 && line.substr(0, 2) == "  "
               && line[2] != ' ') {
      result.commands.push_back(parts(line, ' ').front());
    }
  }
  return result;
}

const help_option* find_option(const help_page& page, std::string_view name) {
  for (const auto& x : page.options)
    if (std::find(x.names.begin(), x.names.end(), name) != x.names.end())
      return &x;
  return nullptr;
}

} // namespace troupe
