#include "adapters/process/control_group.hpp"

#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// Whether a word is in a list with commas.
bool has_word(const std::string& list, const std::string& word) {
  auto words = std::istringstream{list};
  for (auto x = std::string{}; std::getline(words, x, ',');)
    if (x == word)
      return true;
  return false;
}

/// Where the hierarchy is mounted, and which of its groups that shows.
std::optional<std::pair<std::string, std::string>>
find_mount(const std::string& controller, const std::string& process) {
  constexpr auto separator = std::string_view{" - "};
  auto file = std::ifstream{process + "/mountinfo"};
  for (auto line = std::string{}; std::getline(file, line);) {
    const auto end = line.find(separator);
    if (end == std::string::npos)
      continue;
    auto rest = std::istringstream{line.substr(end + separator.size())};
    auto kind = std::string{};
    auto source = std::string{};
    auto options = std::string{};
    if (!(rest >> kind >> source >> options))
      continue;
    const auto is_it = controller.empty()
                         ? kind == "cgroup2"
                         : kind == "cgroup" && has_word(options, controller);
    if (!is_it)
      continue;
    auto fields = std::istringstream{line.substr(0, end)};
    auto unused = std::string{};
    auto root = std::string{};
    auto point = std::string{};
    if (fields >> unused >> unused >> unused >> root >> point)
      return std::pair{point, root};
  }
  return std::nullopt;
}

/// The path of the group in its hierarchy, `NUMBER:CONTROLLERS:PATH`.
std::optional<std::string> find_path(const std::string& controller,
                                     const std::string& process) {
  auto file = std::ifstream{process + "/cgroup"};
  for (auto line = std::string{}; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second =
      first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const auto which = line.substr(first + 1, second - first - 1);
    const auto is_it = controller.empty() ? line.compare(0, 3, "0::") == 0
                                          : has_word(which, controller);
    if (is_it)
      return line.substr(second + 1);
  }
  return std::nullopt;
}

} // namespace

std::optional<control_group> find_control_group(const std::string& controller,
                                                const std::string& process) {
  const auto mount = find_mount(controller, process);
  auto path = find_path(controller, process);
  if (!mount || !path)
    return std::nullopt;
  const auto& [point, root] = *mount;
  if (root != "/" && path->compare(0, root.size(), root) == 0)
    path = path->substr(root.size());
  const auto is_top = path->empty() || *path == "/";
  return control_group{point, is_top ? point : point + *path};
}

} // namespace troupe
