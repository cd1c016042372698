#include "adapters/sensors/sensor_file.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "config/defaults.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>

namespace troupe {

namespace {

/// Bytes of a label.
constexpr size_t label_bytes = 128;

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view x) {
  const auto begin = x.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return {};
  return x.substr(begin, x.find_last_not_of(blanks) - begin + 1);
}

/// The number between prefix and suffix.
std::optional<int64_t> number_in(std::string_view name, std::string_view prefix,
                                 std::string_view suffix) {
  if (name.size() <= prefix.size() + suffix.size()
      || name.substr(0, prefix.size()) != prefix
      || name.substr(name.size() - suffix.size()) != suffix)
    return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  if (name.front() < '0' || name.front() > '9')
    return std::nullopt;
  return whole_number(name);
}

} // namespace

std::optional<std::string> read_sensor_file(const std::string& path) {
  // Not to wait for the other end of a FIFO, nor to open a terminal.
  const auto fd = unique_fd{
    ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  struct stat what {};
  if (!fd || ::fstat(fd.get(), &what) != 0 || !S_ISREG(what.st_mode))
    return std::nullopt;
  // A byte more than it may have shows that it has more.
  auto result = std::string(defaults::sensor_file_bytes + 1, '\0');
  auto size = size_t{0};
  while (size < result.size()) {
    const auto n = ::read(fd.get(), result.data() + size, result.size() - size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return std::nullopt;
    if (n == 0)
      break;
    size += static_cast<size_t>(n);
  }
  if (size > defaults::sensor_file_bytes)
    return std::nullopt;
  result.resize(size);
  return result;
}

std::optional<int64_t> whole_number(std::string_view text) {
  text = trimmed(text);
  int64_t result = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, result);
  if (text.empty() || code != std::errc{} || rest != end)
    return std::nullopt;
  return result;
}

std::optional<int64_t> read_whole_number(const std::string& path) {
  const auto text = read_sensor_file(path);
  return text ? whole_number(*text) : std::nullopt;
}

std::string read_label(const std::string& path) {
  const auto text = read_sensor_file(path).value_or(std::string{});
  auto result =
    std::string{trimmed(std::string_view{text}.substr(0, text.find('\n')))};
  result.resize(std::min(result.size(), label_bytes));
  const auto is_odd = [](char x) { return x < ' ' || x > '~'; };
  std::replace_if(result.begin(), result.end(), is_odd, '?');
  return result;
}

std::optional<int64_t> number_named(std::string_view text,
                                    std::string_view name) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() > name.size() && line.substr(0, name.size()) == name
        && line[name.size()] == ' ')
      return whole_number(line.substr(name.size()));
  }
  return std::nullopt;
}

std::vector<std::string> numbered_entries(const std::string& directory,
                                          std::string_view prefix,
                                          std::string_view suffix) {
  const auto close = [](DIR* x) { ::closedir(x); };
  const auto entries =
    std::unique_ptr<DIR, decltype(close)>{::opendir(directory.c_str()), close};
  auto found = std::vector<std::pair<int64_t, std::string>>{};
  if (!entries)
    return {};
  while (const auto* entry = ::readdir(entries.get())) {
    if (found.size() >= defaults::sensor_devices)
      break;
    if (const auto number = number_in(entry->d_name, prefix, suffix))
      found.emplace_back(*number, entry->d_name);
  }
  std::sort(found.begin(), found.end());
  auto result = std::vector<std::string>{};
  for (auto& [number, name] : found)
    result.push_back(std::move(name));
  return result;
}

} // namespace troupe
