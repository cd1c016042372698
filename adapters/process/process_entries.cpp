#include "adapters/process/process_entries.hpp"

#include "adapters/loop/unique_fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace troupe {

namespace {

/// The most that is read of an environment; exec takes no more.
constexpr size_t max_environment = size_t{8} << 20;

/// Reads a file of /proc, whose size is not known beforehand.
std::string read_file(const std::string& path, size_t max_size) {
  std::string result;
  const auto fd = unique_fd{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd)
    return result;
  char buffer[4096];
  while (result.size() < max_size) {
    const auto n = read(fd.get(), buffer, sizeof(buffer));
    if (n <= 0)
      break;
    result.append(buffer, static_cast<size_t>(n));
  }
  return result;
}

std::string path_of(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + '/' + file;
}

template <class T>
T number(std::string_view text) {
  T result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

/// Source: proc(5), /proc/pid/stat; fields are counted from 1.
std::optional<process_entry> read_entry(pid_t pid) {
  const auto text = read_file(path_of(pid, "stat"), 4096);
  // The name, field 2, may hold anything, parentheses and spaces too.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos)
    return std::nullopt;
  std::vector<std::string_view> fields; // Begins with field 3.
  auto rest = std::string_view{text}.substr(name_end + 1);
  while (!rest.empty()) {
    const auto begin = std::min(rest.find_first_not_of(" \n"), rest.size());
    rest.remove_prefix(begin);
    const auto end = std::min(rest.find_first_of(" \n"), rest.size());
    if (end > 0)
      fields.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  if (fields.size() < 20)
    return std::nullopt;
  process_entry result;
  result.pid = pid;
  result.state = fields[0].front();
  result.parent = number<pid_t>(fields[1]);
  result.group = number<pid_t>(fields[2]);
  result.start_time = number<uint64_t>(fields[19]);
  return result;
}

/// Calls `f` with each number that is a name in `folder`.
/// @returns whether the folder can be read.
template <class F>
bool for_each_number(const std::string& folder, F f) {
  const auto dir =
    std::unique_ptr<DIR, int (*)(DIR*)>{opendir(folder.c_str()), closedir};
  if (dir == nullptr)
    return false;
  while (const auto* x = readdir(dir.get()))
    if (const auto pid = number<pid_t>(x->d_name); pid > 0)
      f(pid);
  return true;
}

/// Adds the descendants of `pid` as the kernel lists them.
void add_children(process_map& result, pid_t pid) {
  for_each_number(path_of(pid, "task"), [&](pid_t thread) {
    const auto text =
      read_file(path_of(pid, "task/") + std::to_string(thread) + "/children",
                max_environment);
    auto rest = std::string_view{text};
    while (!rest.empty()) {
      const auto end = std::min(rest.find(' '), rest.size());
      const auto child = number<pid_t>(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (child <= 0 || result.count(child) > 0)
        continue;
      if (const auto entry = read_entry(child)) {
        result.emplace(child, *entry);
        if (entry->is_alive())
          add_children(result, child);
      }
    }
  });
}

process_map all_processes() {
  process_map result;
  for_each_number("/proc", [&](pid_t pid) {
    if (const auto entry = read_entry(pid))
      result.emplace(pid, *entry);
  });
  return result;
}

} // namespace

bool has_in_environment(pid_t pid, const std::string& assignment) {
  const auto text = read_file(path_of(pid, "environ"), max_environment);
  auto rest = std::string_view{text};
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\0'), rest.size());
    if (rest.substr(0, end) == assignment)
      return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

bool signal_entry(const process_entry& x, int number) {
  const auto pidfd =
    unique_fd{static_cast<int>(syscall(SYS_pidfd_open, x.pid, 0))};
  if (!pidfd)
    return false; // It is gone.
  const auto now = read_entry(x.pid);
  return now && now->start_time == x.start_time
         && syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0)
              == 0;
}

bool kernel_lists_children() {
  static const auto result = access("/proc/thread-self/children", R_OK) == 0;
  return result;
}

process_map list_descendants(bool lists) {
  if (!lists)
    return all_processes();
  process_map result;
  add_children(result, getpid());
  return result;
}

} // namespace troupe
