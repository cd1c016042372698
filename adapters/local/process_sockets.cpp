#include "adapters/local/process_sockets.hpp"

#include "adapters/process/children.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>

namespace troupe {

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
  constexpr size_t no_descriptors = 2; // `.` and `..`
  most = std::min(most, SIZE_MAX - no_descriptors) + no_descriptors;
  for (; most > 0; --most) {
    const auto* x = ::readdir(dir.get());
    if (x == nullptr)
      break;
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
