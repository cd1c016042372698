#include "adapters/process/freezer.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/control_group.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

namespace troupe {

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

} // namespace troupe
