#include "adapters/process/descendants.hpp"

#include "adapters/loop/unique_fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace troupe {

namespace {

/// One line of /proc/<pid>/stat.
struct process_entry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';

  /// Ticks since boot: two processes with the same number differ here.
  uint64_t start_time = 0;

  bool is_alive() const {
    return state != 'Z' && state != 'X' && state != 'x';
  }
};

using process_map = std::map<pid_t, process_entry>;

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

/// @returns whether the environment that `pid` started with has `assignment`.
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

/// Decides who belongs to a job.
class membership {
public:
  membership(const process_map& processes, const std::string& nspace,
             const std::set<pid_t>& groups, const std::set<pid_t>& others)
    : processes_(processes), assignment_("PMIX_NAMESPACE=" + nspace),
      groups_(groups), others_(others) {
    // nop
  }

  bool contains(const process_entry& x) {
    return verdict_on(x) == verdict::member;
  }

private:
  enum class verdict { foreign, descendant, member };

  verdict verdict_on(const process_entry& x) {
    if (const auto known = known_.find(x.pid); known != known_.end())
      return known->second;
    // Also ends the recursion if numbers were reused while we read.
    known_[x.pid] = verdict::foreign;
    const auto result = decide(x);
    known_[x.pid] = result;
    return result;
  }

  verdict decide(const process_entry& x) {
    const auto is_child = x.parent == self_;
    if (is_child && others_.count(x.pid) > 0)
      return verdict::descendant;
    if (is_child && groups_.count(x.group) == 0
        && has_in_environment(x.pid, daemon_variable))
      return verdict::foreign;
    auto inherited = verdict::descendant;
    if (!is_child) {
      const auto parent = processes_.find(x.parent);
      if (parent == processes_.end())
        return verdict::foreign;
      inherited = verdict_on(parent->second);
    }
    if (inherited != verdict::descendant)
      return inherited;
    return groups_.count(x.group) > 0 || has_in_environment(x.pid, assignment_)
             ? verdict::member
             : verdict::descendant;
  }

  const process_map& processes_;
  const std::string assignment_;
  const std::set<pid_t>& groups_;
  const std::set<pid_t>& others_;
  const pid_t self_ = getpid();
  std::map<pid_t, verdict> known_;
};

/// Kills `x`, and nobody who got its number meanwhile.
void kill_process(const process_entry& x) {
  const auto pidfd =
    unique_fd{static_cast<int>(syscall(SYS_pidfd_open, x.pid, 0))};
  if (!pidfd)
    return; // It is gone.
  const auto now = read_entry(x.pid);
  if (now && now->start_time == x.start_time)
    syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
}

} // namespace

bool kernel_lists_children() {
  static const auto result = access("/proc/thread-self/children", R_OK) == 0;
  return result;
}

size_t kill_descendants(const std::string& nspace,
                        const std::set<pid_t>& groups,
                        const std::set<pid_t>& others, bool lists) {
  process_map processes;
  if (lists)
    add_children(processes, getpid());
  else
    processes = all_processes();
  membership job{processes, nspace, groups, others};
  std::vector<process_entry> found;
  for (const auto& [pid, entry] : processes)
    if (pid != getpid() && entry.is_alive() && job.contains(entry))
      found.push_back(entry);
  for (const auto& x : found)
    kill_process(x);
  return found.size();
}

} // namespace troupe
