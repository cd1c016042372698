#include "adapters/process/control_groups.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "adapters/sensors/readers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace troupe {

// -- where a group is --------------------------------------------------------

namespace {

/// Whether a word is in a list with commas.
bool has_word(const std::string& list, const std::string& word) {
  auto words = std::istringstream{list};
  for (auto x = std::string{}; std::getline(words, x, ',');)
    if (x == word)
      return true;
  return false;
}

std::string read_whole(const std::string& path) {
  auto result = std::ostringstream{};
  result << std::ifstream{path}.rdbuf();
  return result.str();
}

/// What the kernel says of a process's groups, which it writes anew for whoever
/// reads it.
struct group_files {
  std::string mounts;
  std::string groups;
};

group_files read_group_files(const std::string& process) {
  return {read_whole(process + "/mountinfo"), read_whole(process + "/cgroup")};
}

/// Where the hierarchy is mounted, and which of its groups that shows.
std::optional<std::pair<std::string, std::string>>
find_mount(const std::string& controller, const std::string& mounts) {
  constexpr auto separator = std::string_view{" - "};
  constexpr auto kinds = std::string_view{"cgroup"};
  auto file = std::istringstream{mounts};
  for (auto line = std::string{}; std::getline(file, line);) {
    const auto end = line.find(separator);
    if (end == std::string::npos
        || line.compare(end + separator.size(), kinds.size(), kinds) != 0)
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
                                     const std::string& groups) {
  auto file = std::istringstream{groups};
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

/// As the public one, of what has been read.
std::optional<control_group> find_control_group(const std::string& controller,
                                                const group_files& files) {
  const auto mount = find_mount(controller, files.mounts);
  auto path = find_path(controller, files.groups);
  if (!mount || !path)
    return std::nullopt;
  const auto& [point, root] = *mount;
  if (root != "/" && path->compare(0, root.size(), root) == 0)
    path = path->substr(root.size());
  const auto is_top = path->empty() || *path == "/";
  return control_group{point, is_top ? point : point + *path};
}

} // namespace

std::optional<control_group> find_control_group(const std::string& controller,
                                                const std::string& process) {
  return find_control_group(controller, read_group_files(process));
}

// -- freezer -----------------------------------------------------------------

namespace {

/// @returns 0, or the number of the error.
int write_to(const std::string& path, const std::string& text) {
  const auto fd = unique_fd{open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (!fd)
    return errno;
  const auto n = write(fd.get(), text.data(), text.size());
  if (n < 0)
    return errno;
  return n == static_cast<ssize_t>(text.size()) ? 0 : EIO;
}

bool is_marked_delegated(const std::string& folder) {
  for (const auto* name : {"user.delegate", "trusted.delegate"}) {
    char text[2] = {};
    if (getxattr(folder.c_str(), name, text, sizeof(text)) > 0
        && text[0] == '1')
      return true;
  }
  return false;
}

} // namespace

std::optional<std::string> delegated_cgroup() {
  const auto group = find_control_group("");
  if (!group)
    return std::nullopt;
  const auto& folder = group->folder;
  const auto is_top = folder == group->top;
  struct stat entry = {};
  const auto is_writable =
    access(folder.c_str(), W_OK) == 0
    && access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
  if (!is_writable || stat(folder.c_str(), &entry) != 0)
    return std::nullopt;
  // Root may write everywhere.
  const auto is_ours = geteuid() != 0 && entry.st_uid == geteuid();
  if (!is_ours && !is_top && !is_marked_delegated(folder))
    return std::nullopt;
  return folder;
}

freezer::freezer(std::optional<std::string> folder)
  : folder_(std::move(folder)) {
  // nop
}

freezer::~freezer() {
  for (const auto& x : groups_) {
    thaw(x);
    stale_.insert(x);
  }
  remove_stale();
}

bool freezer::add(const std::string& group,
                  const std::vector<pid_t>& processes) {
  if (!folder_)
    return false;
  const auto path = path_of(group);
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return false;
  groups_.insert(group);
  stale_.erase(group);
  for (const auto pid : processes) {
    const auto error = write_to(path + "/cgroup.procs", std::to_string(pid));
    if (error != 0 && error != ESRCH)
      return false;
  }
  return true;
}

bool freezer::freeze(const std::string& group) {
  return groups_.count(group) > 0
         && write_to(path_of(group) + "/cgroup.freeze", "1") == 0;
}

void freezer::thaw(const std::string& group) {
  if (groups_.count(group) > 0)
    write_to(path_of(group) + "/cgroup.freeze", "0");
}

void freezer::remove(const std::string& group) {
  if (groups_.erase(group) > 0)
    stale_.insert(group);
  remove_stale();
}

std::string freezer::path_of(const std::string& group) const {
  return folder_.value_or("") + "/" + group;
}

void freezer::remove_stale() {
  for (auto i = stale_.begin(); i != stale_.end();)
    if (rmdir(path_of(*i).c_str()) == 0 || errno == ENOENT)
      i = stale_.erase(i);
    else
      ++i;
}

// -- memory ------------------------------------------------------------------

namespace {

struct version {
  const char* controller;
  const char* limit;
  const char* kills;
};

constexpr version versions[] = {
  {"", "/memory.max", "/memory.events"},
  {"memory", "/memory.limit_in_bytes", "/memory.oom_control"},
};

constexpr auto kills_name = "oom_kill";

/// Version 1 says so much less a page if there is none.
constexpr auto no_limit = int64_t{1} << 60;

std::optional<int64_t> read_kills(const std::string& file) {
  const auto text = read_sensor_file(file);
  return text ? number_named(*text, kills_name) : std::nullopt;
}

} // namespace

memory_group::memory_group(const std::string& process)
  : kills_("/proc/vmstat") {
  const auto files = read_group_files(process);
  for (const auto& x : versions) {
    const auto group = find_control_group(x.controller, files);
    if (!group)
      continue;
    auto folder = group->folder;
    if (folder_.empty() && read_kills(folder + x.kills)) {
      kills_ = folder + x.kills;
      folder_ = folder;
    }
    for (; folder.size() >= group->top.size();
         folder.resize(std::min(folder.rfind('/'), folder.size() - 1)))
      limits_.push_back(folder + x.limit);
  }
}

std::optional<uint64_t> memory_group::limit() const {
  auto result = std::optional<uint64_t>{};
  for (const auto& file : limits_)
    if (const auto bytes = read_whole_number(file);
        bytes && *bytes > 0 && *bytes < no_limit)
      result =
        std::min(result.value_or(UINT64_MAX), static_cast<uint64_t>(*bytes));
  return result;
}

uint64_t memory_group::kills() const {
  return static_cast<uint64_t>(
    std::max(read_kills(kills_).value_or(0), int64_t{0}));
}

std::string memory_group::name() const {
  if (folder_.empty())
    return "this node";
  auto result = "the control group " + folder_;
  if (const auto bytes = limit())
    result += ", which may have " + std::to_string(*bytes >> 20) + " MiB";
  return result;
}

void prefer_to_kill(uint32_t pid, int thousandths) {
  const auto file = "/proc/" + std::to_string(pid) + "/oom_score_adj";
  if (read_whole_number(file).value_or(thousandths) < thousandths)
    std::ofstream{file} << thousandths;
}

uint64_t memory_limit() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page_size = ::sysconf(_SC_PAGESIZE);
  const auto group = memory_group{}.limit();
  if (pages <= 0 || page_size <= 0)
    return group.value_or(0);
  const auto node =
    static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_size);
  return std::min(group.value_or(node), node);
}

} // namespace troupe
