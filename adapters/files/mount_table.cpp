#include "adapters/files/mount_table.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// File systems without files that anybody has written.
constexpr std::string_view kernel_types[] = {
  "binfmt_misc", "bpf",    "cgroup",   "cgroup2",    "configfs",
  "debugfs",     "devpts", "efivarfs", "fusectl",    "mqueue",
  "nsfs",        "proc",   "pstore",   "rpc_pipefs", "securityfs",
  "selinuxfs",   "sysfs",  "tracefs"};

/// Takes the next word off a line.
std::string_view next_word(std::string_view& line) {
  const auto end = std::min(line.find(' '), line.size());
  const auto result = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return result;
}

bool has_option(std::string_view options, std::string_view name) {
  while (!options.empty()) {
    const auto end = std::min(options.find(','), options.size());
    if (options.substr(0, end) == name)
      return true;
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return false;
}

bool is_octal(char x) {
  return x >= '0' && x <= '7';
}

/// The kernel writes blanks and backslashes as `\040`.
std::string unescaped(std::string_view x) {
  constexpr size_t digits = 3;
  constexpr auto bits = 3;
  auto result = std::string{};
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] != '\\' || x.size() - i <= digits
        || !std::all_of(x.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        x.begin() + static_cast<std::ptrdiff_t>(i + digits) + 1,
                        is_octal)) {
      result += x[i];
      continue;
    }
    auto code = 0U;
    for (size_t k = 1; k <= digits; ++k)
      code = (code << bits) | static_cast<unsigned>(x[i + k] - '0');
    result += static_cast<char>(code);
    i += digits;
  }
  return result;
}

/// `36 35 98:0 / /mnt/data rw,noatime shared:1 - ext3 /dev/root rw`.
std::optional<mount_entry> parse_line(std::string_view line) {
  auto result = mount_entry{};
  const auto id = next_word(line);
  const auto [rest, code] =
    std::from_chars(id.data(), id.data() + id.size(), result.id);
  if (code != std::errc{} || rest != id.data() + id.size() || result.id == 0)
    return std::nullopt;
  next_word(line); // parent
  next_word(line); // device
  next_word(line); // root
  result.point = unescaped(next_word(line));
  const auto options = next_word(line);
  while (!line.empty())
    if (next_word(line) == "-")
      break;
  result.type = next_word(line);
  next_word(line); // source
  const auto of_all = next_word(line);
  if (result.point.empty() || result.point.front() != '/'
      || result.type.empty())
    return std::nullopt;
  result.keeps_access_time =
    !has_option(options, "noatime") && !has_option(options, "ro")
    && !has_option(of_all, "ro") && !has_option(of_all, "noatime");
  result.access_time_is_relative = has_option(options, "relatime");
  result.is_of_kernel =
    std::find(std::begin(kernel_types), std::end(kernel_types), result.type)
    != std::end(kernel_types);
  return result;
}

/// The part of a path before `..`: behind it, it may lie anywhere.
std::string_view plain_part(std::string_view path) {
  for (auto i = path.find("/.."); i != std::string_view::npos;
       i = path.find("/..", i + 1))
    if (i + 3 == path.size() || path[i + 3] == '/')
      return path.substr(0, std::max<size_t>(i, 1));
  return path;
}

} // namespace

bool is_below(std::string_view path, std::string_view point) {
  if (point == "/")
    return !path.empty() && path.front() == '/';
  return path.substr(0, point.size()) == point
         && (path.size() == point.size() || path[point.size()] == '/');
}

std::string tidy_path(std::string_view path) {
  auto result = std::string{};
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".")
      continue;
    result += '/';
    result += part;
  }
  return result.empty() ? "/" : result;
}

mount_table::mount_table(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (auto entry = parse_line(text.substr(0, end)))
      entries_.push_back(std::move(*entry));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

const mount_entry* mount_table::find(std::string_view path) const {
  path = plain_part(path);
  const mount_entry* result = nullptr;
  for (const auto& x : entries_)
    if (is_below(path, x.point)
        && (result == nullptr || x.point.size() >= result->point.size()))
      result = &x;
  return result;
}

} // namespace troupe
