#include "adapters/files/directory.hpp"

#include "adapters/sockets/system_error.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>

namespace troupe {

namespace {

/// How deep a tree that we remove may be.
constexpr auto max_depth = 64;

constexpr auto open_flags =
  O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

struct closer {
  void operator()(DIR* x) const noexcept {
    ::closedir(x);
  }
};

caf::error odd(const std::string& path, const std::string& why) {
  return make_error(status::no_permissions, path + ": " + why);
}

bool is_trusted(uid_t owner) {
  return owner == 0 || owner == ::geteuid();
}

file_identity identity_of(const struct stat& x) {
  return {x.st_dev, x.st_ino};
}

/// Why files of ours are not safe in a directory; nothing if they are.
caf::error check_shared(const std::string& path, int fd) {
  struct stat st;
  if (::fstat(fd, &st) != 0)
    return system_error("stat " + path);
  if (!is_trusted(st.st_uid))
    return odd(path, "belongs to user " + std::to_string(st.st_uid));
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (st.st_mode & S_ISVTX) == 0)
    return odd(path, "others may remove files (writable and not sticky)");
  return caf::none;
}

caf::error check_private(const std::string& path, int fd) {
  struct stat st;
  if (::fstat(fd, &st) != 0)
    return system_error("stat " + path);
  if (st.st_uid != ::geteuid())
    return odd(path, "belongs to user " + std::to_string(st.st_uid));
  if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return odd(path, "is open to other users");
  return caf::none;
}

bool is_dot(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

/// Removes what is in the directory `fd`.
void clear(unique_fd fd, dev_t device, int depth) noexcept {
  const auto here = fd.get();
  const auto dir = std::unique_ptr<DIR, closer>{::fdopendir(here)};
  if (dir == nullptr)
    return;
  fd.release(); // `dir` closes it.
  while (const auto* entry = ::readdir(dir.get())) {
    const auto* name = entry->d_name;
    if (is_dot(name) || ::unlinkat(here, name, 0) == 0)
      continue;
    auto below = unique_fd{::openat(here, name, open_flags | O_NOFOLLOW)};
    struct stat st;
    if (!below || depth == 0 || ::fstat(below.get(), &st) != 0
        || st.st_dev != device)
      continue;
    clear(std::move(below), device, depth - 1);
    ::unlinkat(here, name, AT_REMOVEDIR);
  }
}

} // namespace

caf::expected<directory> directory::open(const std::string& path) {
  const auto entry =
    unique_fd{::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
  struct stat st;
  if (!entry || ::fstat(entry.get(), &st) != 0)
    return system_error("open " + path);
  if (S_ISLNK(st.st_mode) && !is_trusted(st.st_uid))
    return odd(path, "is a link of user " + std::to_string(st.st_uid));
  auto fd = unique_fd{::open(path.c_str(), open_flags)};
  if (!fd)
    return system_error("open directory " + path);
  if (auto err = check_shared(path, fd.get()))
    return err;
  return directory{std::move(fd), path};
}

caf::expected<directory> directory::open_private(std::string_view name) const {
  const auto path = path_of(name);
  auto fd = unique_fd{
    ::openat(fd_.get(), std::string{name}.c_str(), open_flags | O_NOFOLLOW)};
  if (!fd && (errno == ELOOP || errno == ENOTDIR))
    return odd(path, "is not a directory");
  if (!fd)
    return system_error("open directory " + path);
  if (auto err = check_private(path, fd.get()))
    return err;
  return directory{std::move(fd), path};
}

caf::expected<directory>
directory::create_private(std::string_view name) const {
  if (::mkdirat(fd_.get(), std::string{name}.c_str(), S_IRWXU) == 0)
    return open_private(name);
  if (errno == EEXIST)
    return make_error(status::exists, path_of(name) + " exists");
  return system_error("create " + path_of(name));
}

std::string directory::path_of(std::string_view name) const {
  auto result = path_;
  result += '/';
  result += name;
  return result;
}

std::optional<file_identity> directory::identify(std::string_view name) const {
  struct stat st;
  if (::fstatat(fd_.get(), std::string{name}.c_str(), &st, AT_SYMLINK_NOFOLLOW)
      != 0)
    return std::nullopt;
  return identity_of(st);
}

std::optional<file_identity> directory::identity() const {
  struct stat st;
  if (::fstat(fd_.get(), &st) != 0)
    return std::nullopt;
  return identity_of(st);
}

std::vector<std::string> directory::list(size_t max) const {
  std::vector<std::string> result;
  // Not a duplicate of our descriptor, which would share its position.
  auto fd = unique_fd{::openat(fd_.get(), ".", open_flags)};
  const auto dir =
    std::unique_ptr<DIR, closer>{fd ? ::fdopendir(fd.get()) : nullptr};
  if (dir == nullptr)
    return result;
  fd.release(); // `dir` closes it.
  while (result.size() < max) {
    const auto* entry = ::readdir(dir.get());
    if (entry == nullptr)
      break;
    if (!is_dot(entry->d_name))
      result.emplace_back(entry->d_name);
  }
  return result;
}

void directory::touch() const noexcept {
  ::futimens(fd_.get(), nullptr);
}

void directory::touch(std::string_view name) const noexcept {
  ::utimensat(fd_.get(), std::string{name}.c_str(), nullptr,
              AT_SYMLINK_NOFOLLOW);
}

void directory::unlink(std::string_view name,
                       const file_identity& what) const noexcept {
  if (identify(name) == what)
    ::unlinkat(fd_.get(), std::string{name}.c_str(), 0);
}

void directory::remove_tree(std::string_view name,
                            const file_identity& what) const noexcept {
  const auto text = std::string{name};
  auto fd =
    unique_fd{::openat(fd_.get(), text.c_str(), open_flags | O_NOFOLLOW)};
  struct stat st;
  if (!fd || ::fstat(fd.get(), &st) != 0 || !(identity_of(st) == what))
    return;
  clear(std::move(fd), what.device, max_depth);
  ::unlinkat(fd_.get(), text.c_str(), AT_REMOVEDIR);
}

} // namespace troupe
