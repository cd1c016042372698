#include "adapters/files/kept_file.hpp"

#include "adapters/loop/read_write.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "messages/status.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

namespace {

constexpr auto new_suffix = ".new";

caf::expected<std::string> read_own(int folder, const std::string& name,
                                    const std::string& path) {
  const auto fd = unique_fd{openat(
    folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!fd && errno == ENOENT)
    return std::string{};
  struct stat about = {};
  if (!fd || fstat(fd.get(), &about) != 0)
    return make_error(status::no_permissions,
                      path + " cannot be read: " + std::strerror(errno)
                        + "; name another file");
  constexpr auto of_others = S_IRWXG | S_IRWXO;
  if (!S_ISREG(about.st_mode) || about.st_uid != geteuid()
      || (about.st_mode & of_others) != 0)
    return make_error(status::no_permissions,
                      path + " is not a file of this user alone (chmod 600)");
  auto result = read_up_to(fd.get(), defaults::kept_file_bytes + 1);
  if (!result)
    return make_error(status::no_permissions,
                      path + " cannot be read; name another file");
  if (result->size() > defaults::kept_file_bytes)
    return make_error(status::bad_param,
                      path + " has more than "
                        + std::to_string(defaults::kept_file_bytes >> 20)
                        + " MiB; name another file");
  return std::move(*result);
}

/// @returns why it cannot be done; empty if it is.
std::string write_own(int folder, const std::string& name,
                      const std::string& content) {
  const auto temporary = name + new_suffix;
  // Of a time when somebody was killed.
  unlinkat(folder, temporary.c_str(), 0);
  auto fd = unique_fd{openat(
    folder, temporary.c_str(),
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!fd || !write_all(fd.get(), content) || fsync(fd.get()) != 0
      || renameat(folder, temporary.c_str(), folder, name.c_str()) != 0
      || fsync(folder) != 0)
    return std::strerror(errno);
  return {};
}

} // namespace

struct kept_file::state : std::enable_shared_from_this<state> {
  /// Shared with threads, which may outlive all else.
  std::shared_ptr<const directory> folder;
  std::string name;
  std::string path;
  thread_pool* pool = nullptr;
  journal log;

  /// What is to be written next, and who waits for it.
  std::optional<std::string> next;
  std::vector<std::function<void()>> waiting;

  /// Whether a thread writes.
  bool is_writing = false;

  void write() {
    if (is_writing || !next)
      return;
    auto done = std::exchange(waiting, {});
    const auto why = std::make_shared<std::string>("it was not written");
    const auto work = [to = folder, file = name, why,
                       content = std::move(*next)] {
      // Nobody would read more.
      *why = content.size() > defaults::kept_file_bytes
               ? "it would have more than "
                   + std::to_string(defaults::kept_file_bytes >> 20) + " MiB"
               : write_own(to->fd(), file, content);
    };
    next.reset();
    is_writing = true;
    const auto finish = [self = shared_from_this(), why, done] {
      self->is_writing = false;
      self->complain(*why);
      for (const auto& x : done)
        x();
      self->write();
    };
    if (!pool->post(work, finish)) {
      *why = "too much work waits on this node";
      finish();
    }
  }

  void complain(const std::string& why) const {
    if (!why.empty() && log)
      log(severity::warning, path + " cannot be written: " + why);
  }
};

kept_file::kept_file(std::shared_ptr<state> x, std::string found)
  : state_(std::move(x)), found_(std::move(found)) {
  // nop
}

caf::expected<std::shared_ptr<kept_file>>
kept_file::open(const std::string& path, thread_pool& pool, journal log) {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..")
    return make_error(status::bad_param,
                      "'" + path + "' is no name of a file; write one");
  auto folder = directory::open(slash == std::string::npos ? "."
                                : slash == 0               ? "/"
                                             : path.substr(0, slash));
  if (!folder)
    return std::move(folder.error());
  auto found = read_own(folder->fd(), name, path);
  if (!found)
    return std::move(found.error());
  auto x = std::make_shared<state>();
  x->folder = std::make_shared<const directory>(std::move(*folder));
  x->name = name;
  x->path = path;
  x->pool = &pool;
  x->log = std::move(log);
  return std::shared_ptr<kept_file>{
    new kept_file{std::move(x), std::move(*found)}};
}

void kept_file::keep(std::string content, std::function<void()> then) {
  state_->next = std::move(content);
  if (state_->waiting.size() < defaults::kept_file_waiting) {
    state_->waiting.push_back(std::move(then));
    state_->write();
    return;
  }
  // A thread writes, or so many would not wait: this is written after it.
  state_->complain("its disk hangs");
  then();
}

} // namespace troupe
