#include "adapters/log/output_file_set.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace troupe {

namespace {

using failure = output_file_set::failure;

/// Source: OpenPMIx 6.1, `pmix_iof_setup`.
constexpr mode_t folder_mode = S_IRWXU | S_IRGRP | S_IXGRP;
constexpr mode_t file_mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;

bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

failure explain(int error) {
  const auto reason = std::system_category().message(error);
  switch (error) {
    case ENOSPC:
      return {reason, "make room on its file system"};
    case EDQUOT:
      return {reason, "remove files, or have the quota raised"};
    case EFBIG:
      return {reason, "raise the limit of the size of files (ulimit -f)"};
    case EACCES:
    case EPERM:
    case EROFS:
      return {reason, "name a folder in which this user may write"};
    case ENOTDIR:
    case ELOOP:
    case EISDIR:
    case ENXIO:
      return {reason, "remove the link or special file in its place, or choose "
                      "another name"};
    case ENAMETOOLONG:
      return {reason, "choose a shorter name"};
    case EMFILE:
    case ENFILE:
      return {reason, "raise the limit of open files (ulimit -n)"};
    default:
      return {reason, "look after its file system"};
  }
}

failure foreign(const std::string& what) {
  return {what, "remove it or choose another name"};
}

/// Creates the folders on the way and opens the last.
unique_fd open_given(const std::string& path, int& error) {
  for (auto at = path.find('/', 1); !path.empty();
       at = path.find('/', at + 1)) {
    const auto part = path.substr(0, at);
    if (mkdir(part.c_str(), folder_mode) != 0 && errno != EEXIST
        && errno != EISDIR) {
      // A folder that is there may be in one where nothing can be created.
      struct stat found {};
      const auto reason = errno;
      if (stat(part.c_str(), &found) != 0) {
        error = reason;
        return unique_fd{};
      }
    }
    if (at == std::string::npos)
      break;
  }
  unique_fd result{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!result)
    error = errno;
  return result;
}

failure check_owner(int fd, const char* what) {
  struct stat found {};
  if (fstat(fd, &found) != 0)
    return explain(errno);
  if (found.st_uid != geteuid())
    return foreign(std::string{what} + " belongs to user "
                   + std::to_string(found.st_uid));
  return {};
}

/// Goes down into folders that are ours, or creates them.
failure descend(unique_fd& folder, const std::vector<std::string>& below) {
  for (const auto& name : below) {
    if (mkdirat(folder.get(), name.c_str(), folder_mode) != 0
        && errno != EEXIST)
      return explain(errno);
    unique_fd next{openat(folder.get(), name.c_str(),
                          O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!next)
      return explain(errno);
    if (auto why = check_owner(next.get(), "its folder"); !why.reason.empty())
      return why;
    folder = std::move(next);
  }
  return {};
}

failure check_file(int fd) {
  struct stat found {};
  if (fstat(fd, &found) != 0)
    return explain(errno);
  if (!S_ISREG(found.st_mode))
    return foreign("it is no regular file");
  if (found.st_nlink > 1)
    return foreign("it has other names (hard links)");
  return check_owner(fd, "it");
}

} // namespace

output_file_set::output_file_set(size_t most_open, write_function write)
  : most_open_(std::max<size_t>(most_open, 1)), write_(std::move(write)) {
  if (!write_)
    write_ = ::write;
}

output_file_set::outcome output_file_set::append(const output_file& file,
                                                 std::string_view text) {
  auto& x = entries_[path_of(file)];
  x.used = ++clock_;
  const auto lose = [&](uint64_t lost, failure why) {
    x.lost += lost;
    x.reason = why.reason;
    return outcome{lost, std::move(why)};
  };
  if (!x.fd)
    if (auto why = open(x, file); !why.reason.empty())
      return lose(text.size(), std::move(why));
  if (x.lost > 0 && !add_notice(x, file))
    return lose(text.size(), explain(errno));
  auto error = 0;
  const auto written = write_all(x, text, error);
  if (written > 0)
    x.is_within_line = text[written - 1] != '\n';
  if (written == text.size())
    return {};
  if (!is_full(error)) {
    // The descriptor may be of no use any more; the next text tries again.
    x.fd.reset();
    --open_;
  }
  return lose(text.size() - written, explain(error));
}

output_file_set::failure output_file_set::close(const output_file& file) {
  const auto found = entries_.find(path_of(file));
  if (found == entries_.end() || !found->second.fd)
    return {};
  auto& x = found->second;
  if (x.lost > 0)
    add_notice(x, file);
  --open_;
  return ::close(x.fd.release()) == 0 || errno == EINTR ? failure{}
                                                        : explain(errno);
}

output_file_set::failure output_file_set::open(entry& x,
                                               const output_file& file) {
  if (open_ >= most_open_)
    close_oldest();
  auto error = 0;
  auto folder = open_given(file.folder, error);
  if (!folder)
    return explain(error);
  if (auto why = descend(folder, file.below); !why.reason.empty())
    return why;
  unique_fd fd{openat(folder.get(), file.name.c_str(),
                      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK
                        | O_NOCTTY | O_CLOEXEC,
                      file_mode)};
  if (!fd)
    return explain(errno);
  if (auto why = check_file(fd.get()); !why.reason.empty())
    return why;
  if (!x.was_open && !file.is_shared && ftruncate(fd.get(), 0) != 0)
    return explain(errno);
  x.fd = std::move(fd);
  x.was_open = true;
  ++open_;
  return {};
}

void output_file_set::close_oldest() {
  entry* oldest = nullptr;
  for (auto& [path, x] : entries_)
    if (x.fd && (oldest == nullptr || x.used < oldest->used))
      oldest = &x;
  if (oldest != nullptr) {
    oldest->fd.reset();
    --open_;
  }
}

/// @returns whether the file tells now what is missing; else `errno` says why.
bool output_file_set::add_notice(entry& x, const output_file& file) {
  const auto notice = (x.is_within_line ? "\n[troupe: " : "[troupe: ")
                      + std::to_string(x.lost)
                      + (x.lost == 1 ? " byte is" : " bytes are")
                      + " missing here: " + x.reason + "]\n";
  struct stat before {};
  auto error = fstat(x.fd.get(), &before) == 0 ? 0 : errno;
  if (error == 0 && write_all(x, notice, error) == notice.size()) {
    x.lost = 0;
    x.is_within_line = false;
    return true;
  }
  // Half a notice is no notice.
  if (!file.is_shared && error != 0)
    (void)(ftruncate(x.fd.get(), before.st_size) == 0);
  errno = error;
  return false;
}

size_t output_file_set::write_all(entry& x, std::string_view text, int& error) {
  size_t written = 0;
  while (written < text.size()) {
    const auto n =
      write_(x.fd.get(), text.data() + written, text.size() - written);
    if (n > 0) {
      written += static_cast<size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      error = n < 0 ? errno : ENOSPC;
      break;
    }
  }
  return written;
}

} // namespace troupe
