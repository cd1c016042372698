#include "adapters/process/children.hpp"

#include "adapters/loop/unique_fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

namespace troupe {

// -- children of our own -----------------------------------------------------

bool look_for_child(idtype_t type, id_t id, siginfo_t& info, int options) {
  info.si_pid = 0;
  return waitid(type, id, &info, WEXITED | WNOHANG | options) == 0;
}

bool has_children() {
  siginfo_t info;
  return look_for_child(P_ALL, 0, info, WNOWAIT);
}

bool has_children_in(pid_t group) {
  siginfo_t info;
  return look_for_child(P_PGID, static_cast<id_t>(group), info, WNOWAIT);
}

// -- children somebody waits for ---------------------------------------------

namespace {

// Children belong to the process, so does the list of them.
std::mutex mutex;
std::set<pid_t> children; // guarded by mutex

} // namespace

awaited_child::awaited_child(const std::function<pid_t()>& spawn) {
  const auto guard = std::lock_guard{mutex};
  pid_ = spawn();
  if (pid_ > 0)
    children.insert(pid_);
}

awaited_child::~awaited_child() {
  const auto guard = std::lock_guard{mutex};
  children.erase(pid_);
}

bool awaited_child::exists(pid_t pid) {
  const auto guard = std::lock_guard{mutex};
  return children.count(pid) > 0;
}

// -- processes of the node ---------------------------------------------------

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

// -- descendants of a job ----------------------------------------------------

namespace {

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

} // namespace

size_t kill_descendants(const std::string& nspace,
                        const std::set<pid_t>& groups,
                        const std::set<pid_t>& others, bool lists) {
  const auto processes = list_descendants(lists);
  membership job{processes, nspace, groups, others};
  std::vector<process_entry> found;
  for (const auto& [pid, entry] : processes)
    if (pid != getpid() && entry.is_alive() && job.contains(entry))
      found.push_back(entry);
  for (const auto& x : found)
    signal_entry(x, SIGKILL);
  return found.size();
}

// -- descendants of a process ------------------------------------------------

namespace {

/// Finds out to whose family a process belongs.
class family_finder {
public:
  family_finder(const std::vector<family_head>& heads,
                const process_map& processes)
    : heads_(heads), processes_(processes) {
    for (const auto& x : heads)
      known_[x.pid] = x.pid;
  }

  /// @returns the number of the head; 0 if it belongs to none.
  pid_t head_of(const process_entry& x) {
    if (const auto known = known_.find(x.pid); known != known_.end())
      return known->second;
    // Also ends the recursion if numbers were reused while we read.
    known_[x.pid] = 0;
    auto result = pid_t{0};
    if (x.parent == self_) {
      result = head_of_orphan(x);
    } else if (const auto parent = processes_.find(x.parent);
               parent != processes_.end()) {
      result = head_of(parent->second);
    }
    known_[x.pid] = result;
    return result;
  }

private:
  pid_t head_of_orphan(const process_entry& x) const {
    for (const auto& head : heads_)
      if (x.group == head.pid)
        return head.pid;
    for (const auto& head : heads_)
      if (has_in_environment(x.pid, head.rank)
          && has_in_environment(x.pid, head.nspace))
        return head.pid;
    return 0;
  }

  const std::vector<family_head>& heads_;
  const process_map& processes_;
  const pid_t self_ = getpid();
  std::map<pid_t, pid_t> known_;
};

} // namespace

std::map<pid_t, std::vector<process_entry>>
find_families(const std::vector<family_head>& heads,
              const process_map& processes) {
  auto result = std::map<pid_t, std::vector<process_entry>>{};
  auto finder = family_finder{heads, processes};
  for (const auto& [pid, entry] : processes)
    if (entry.is_alive())
      if (const auto head = finder.head_of(entry); head != 0 && head != pid)
        result[head].push_back(entry);
  return result;
}

// -- sockets of processes ----------------------------------------------------

namespace {

/// Whether `pid` is `ancestor` or comes from it.
bool comes_from(const process_map& all, pid_t pid, pid_t ancestor) {
  // The map may be of several moments: a way in it could be a circle.
  for (auto steps = all.size() + 1; steps > 0; --steps) {
    if (pid == ancestor)
      return true;
    const auto i = all.find(pid);
    if (i == all.end())
      return false;
    pid = i->second.parent;
  }
  return false;
}

} // namespace

holding holds_socket(uint32_t pid, uint64_t inode, size_t most) {
  const auto folder = "/proc/" + std::to_string(pid) + "/fd";
  const auto dir =
    std::unique_ptr<DIR, int (*)(DIR*)>{::opendir(folder.c_str()), closedir};
  if (dir == nullptr)
    return errno == ENOENT || errno == ESRCH ? holding::no : holding::unknown;
  const auto wanted = "socket:[" + std::to_string(inode) + "]";
  std::array<char, 64> target;
  while (most > 0) {
    const auto* x = ::readdir(dir.get());
    if (x == nullptr)
      break;
    if (x->d_name[0] == '.')
      continue; // No descriptor, but a folder.
    --most;
    const auto size =
      ::readlinkat(::dirfd(dir.get()), x->d_name, target.data(), target.size());
    if (size > 0
        && std::string_view{target.data(), static_cast<size_t>(size)} == wanted)
      return holding::yes;
    if (size < 0 && errno == EACCES)
      return holding::unknown;
  }
  return holding::no;
}

holding family_holds_socket(uint32_t pid, uint64_t inode,
                            const std::vector<std::string>& variables) {
  const auto started = static_cast<pid_t>(pid);
  const auto all = list_descendants();
  auto result = holding::no;
  for (const auto& [number, entry] : all) {
    if (!entry.is_alive() || !comes_from(all, number, ::getpid()))
      continue;
    const auto found = holds_socket(static_cast<uint32_t>(number), inode);
    if (found == holding::no)
      continue;
    if (!comes_from(all, number, started)
        && !std::all_of(variables.begin(), variables.end(),
                        [number = number](const auto& x) {
                          return has_in_environment(number, x);
                        }))
      continue;
    if (found == holding::yes)
      return found;
    result = found;
  }
  return result;
}

std::vector<uint32_t> holders_of(uint64_t inode) {
  auto result = std::vector<uint32_t>{};
  for (const auto& [number, entry] : list_descendants(false)) {
    const auto pid = static_cast<uint32_t>(number);
    if (entry.is_alive() && holds_socket(pid, inode) == holding::yes)
      result.push_back(pid);
  }
  return result;
}

} // namespace troupe
