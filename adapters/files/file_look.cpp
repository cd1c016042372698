#include "adapters/files/file_look.hpp"

#include "adapters/loop/unique_fd.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <deque>
#include <optional>
#include <utility>

namespace troupe {

// -- mounts ------------------------------------------------------------------

namespace {

/// File systems without files that anybody has written.
constexpr std::string_view kernel_types[] = {
  "binfmt_misc", "bpf",    "cgroup",   "cgroup2",    "configfs",
  "debugfs",     "devpts", "efivarfs", "fusectl",    "mqueue",
  "nsfs",        "proc",   "pstore",   "rpc_pipefs", "securityfs",
  "selinuxfs",   "sysfs",  "tracefs"};

/// Takes the next word off a line.
std::string_view next_word(std::string_view& line) {
  const auto end = std::min(line.find(' '), line.size());
  const auto result = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return result;
}

bool has_option(std::string_view options, std::string_view name) {
  while (!options.empty()) {
    const auto end = std::min(options.find(','), options.size());
    if (options.substr(0, end) == name)
      return true;
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return false;
}

bool is_octal(char x) {
  return x >= '0' && x <= '7';
}

/// The kernel writes blanks and backslashes as `\040`.
std::string unescaped(std::string_view x) {
  constexpr size_t digits = 3;
  constexpr auto bits = 3;
  auto result = std::string{};
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] != '\\' || x.size() - i <= digits
        || !std::all_of(x.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        x.begin() + static_cast<std::ptrdiff_t>(i + digits) + 1,
                        is_octal)) {
      result += x[i];
      continue;
    }
    auto code = 0U;
    for (size_t k = 1; k <= digits; ++k)
      code = (code << bits) | static_cast<unsigned>(x[i + k] - '0');
    result += static_cast<char>(code);
    i += digits;
  }
  return result;
}

/// `36 35 98:0 / /mnt/data rw,noatime shared:1 - ext3 /dev/root rw`.
std::optional<mount_entry> parse_line(std::string_view line) {
  auto result = mount_entry{};
  const auto id = next_word(line);
  const auto [rest, code] =
    std::from_chars(id.data(), id.data() + id.size(), result.id);
  if (code != std::errc{} || rest != id.data() + id.size() || result.id == 0)
    return std::nullopt;
  next_word(line); // parent
  next_word(line); // device
  next_word(line); // root
  result.point = unescaped(next_word(line));
  const auto options = next_word(line);
  while (!line.empty())
    if (next_word(line) == "-")
      break;
  result.type = next_word(line);
  next_word(line); // source
  const auto of_all = next_word(line);
  if (result.point.empty() || result.point.front() != '/'
      || result.type.empty())
    return std::nullopt;
  result.keeps_access_time =
    !has_option(options, "noatime") && !has_option(options, "ro")
    && !has_option(of_all, "ro") && !has_option(of_all, "noatime");
  result.access_time_is_relative = has_option(options, "relatime");
  result.is_of_kernel =
    std::find(std::begin(kernel_types), std::end(kernel_types), result.type)
    != std::end(kernel_types);
  return result;
}

/// The part of a path before `..`: behind it, it may lie anywhere.
std::string_view plain_part(std::string_view path) {
  for (auto i = path.find("/.."); i != std::string_view::npos;
       i = path.find("/..", i + 1))
    if (i + 3 == path.size() || path[i + 3] == '/')
      return path.substr(0, std::max<size_t>(i, 1));
  return path;
}

} // namespace

bool is_below(std::string_view path, std::string_view point) {
  if (point == "/")
    return !path.empty() && path.front() == '/';
  return path.substr(0, point.size()) == point
         && (path.size() == point.size() || path[point.size()] == '/');
}

std::string tidy_path(std::string_view path) {
  auto result = std::string{};
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".")
      continue;
    result += '/';
    result += part;
  }
  return result.empty() ? "/" : result;
}

mount_table::mount_table(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (auto entry = parse_line(text.substr(0, end)))
      entries_.push_back(std::move(*entry));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

const mount_entry* mount_table::find(std::string_view path) const {
  path = plain_part(path);
  const mount_entry* result = nullptr;
  for (const auto& x : entries_)
    if (is_below(path, x.point)
        && (result == nullptr || x.point.size() >= result->point.size()))
      result = &x;
  return result;
}

// -- looks -------------------------------------------------------------------

namespace {

/// Symbolic links that are followed. Source: path_resolution(7).
constexpr size_t most_links = 40;

/// Components of a path, with those of the links in it.
constexpr size_t most_components = 8192;

constexpr uint64_t within_mount = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS;

int open_within(int folder, const char* path, uint64_t flags) {
  auto how = open_how{};
  how.flags = O_PATH | O_CLOEXEC | flags;
  how.resolve = within_mount;
  return static_cast<int>(
    ::syscall(SYS_openat2, folder, path, &how, sizeof how));
}

look_result failure(int code) {
  auto result = look_result{};
  auto& state = result.stamp.state;
  switch (code) {
    case ENOENT:
    case ENOTDIR:
    case ESTALE:
      state = file_state::missing;
      break;
    case EACCES:
    case EPERM:
      state = file_state::no_permission;
      break;
    default:
      state = file_state::failed;
  }
  return result;
}

int64_t nanoseconds(const statx_timestamp& x) {
  constexpr int64_t billion = 1000000000;
  int64_t result = 0;
  // A file system in user space may say anything.
  if (__builtin_mul_overflow(x.tv_sec, billion, &result)
      || __builtin_add_overflow(result, int64_t{x.tv_nsec}, &result))
    return x.tv_sec < 0 ? INT64_MIN : INT64_MAX;
  return result;
}

/// What is behind a descriptor, as its server says now and not as it said once.
look_result stamp_of(int fd) {
  struct statx x {};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS,
              &x)
      != 0)
    return failure(errno);
  auto result = look_result{};
  auto& stamp = result.stamp;
  stamp.state =
    S_ISREG(x.stx_mode) ? file_state::regular : file_state::not_regular;
  if (stamp.state != file_state::regular)
    return result;
  constexpr auto bits = 32;
  stamp.device = (uint64_t{x.stx_dev_major} << bits) | x.stx_dev_minor;
  stamp.inode = x.stx_ino;
  stamp.size = x.stx_size;
  stamp.accessed = nanoseconds(x.stx_atime);
  stamp.modified = nanoseconds(x.stx_mtime);
  return result;
}

/// Follows a path component by component, up to where it leaves the mount.
class walker {
public:
  walker(unique_fd start, const std::string& point, std::string_view rest)
    : point_(point == "/" ? "" : point) {
    folders_.push_back(std::move(start));
    push(rest);
  }

  look_result run() {
    while (!rest_.empty()) {
      const auto name = std::move(rest_.front());
      rest_.pop_front();
      if (auto end = step(name))
        return std::move(*end);
      if (rest_.size() + names_.size() > most_components)
        return failure(ELOOP);
    }
    return stamp_of(folders_.back().get());
  }

private:
  void push(std::string_view path) {
    auto parts = std::vector<std::string>{};
    while (!path.empty()) {
      const auto end = std::min(path.find('/'), path.size());
      if (end > 0 && path.substr(0, end) != ".")
        parts.emplace_back(path.substr(0, end));
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    rest_.insert(rest_.begin(), std::make_move_iterator(parts.begin()),
                 std::make_move_iterator(parts.end()));
  }

  look_result elsewhere(std::string path) {
    for (const auto& x : rest_)
      path += "/" + x;
    if (path.size() >= PATH_MAX)
      return failure(ENAMETOOLONG);
    return {{}, std::move(path)};
  }

  std::string here() const {
    auto result = point_;
    for (const auto& x : names_)
      result += "/" + x;
    return result;
  }

  std::optional<look_result> up() {
    if (!names_.empty()) {
      names_.pop_back();
      folders_.pop_back();
      return std::nullopt;
    }
    if (point_.empty())
      return std::nullopt; // The parent of the root is the root.
    const auto parent = point_.substr(0, point_.rfind('/'));
    return elsewhere(parent.empty() && rest_.empty() ? "/" : parent);
  }

  std::optional<look_result> step(const std::string& name) {
    if (name == "..")
      return up();
    const auto folder = folders_.back().get();
    auto fd = unique_fd{open_within(folder, name.c_str(), O_NOFOLLOW)};
    if (!fd)
      return errno == EXDEV ? elsewhere(here() + "/" + name) : failure(errno);
    auto target = std::array<char, PATH_MAX>{};
    const auto n = ::readlinkat(fd.get(), "", target.data(), target.size());
    if (n < 0) {
      names_.push_back(name);
      folders_.push_back(std::move(fd));
      return std::nullopt;
    }
    const auto path = std::string_view{target.data(), static_cast<size_t>(n)};
    if (++links_ > most_links || path.empty() || path.size() >= target.size())
      return failure(ELOOP);
    if (path.front() == '/')
      return elsewhere(path == "/" && !rest_.empty() ? "" : std::string{path});
    push(path);
    return std::nullopt;
  }

  std::string point_;
  std::deque<std::string> rest_;
  std::vector<std::string> names_;
  std::vector<unique_fd> folders_;
  size_t links_ = 0;
};

} // namespace

look_result look_at(const std::string& point, const std::string& path) {
  if (path.size() >= PATH_MAX || path.find('\0') != std::string::npos)
    return failure(ENAMETOOLONG);
  auto start = unique_fd{::open(point.c_str(), O_PATH | O_CLOEXEC)};
  if (!start)
    return failure(errno);
  auto rest = std::string_view{path}.substr(
    std::min(path.size(), point == "/" ? size_t{1} : point.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  if (rest.empty())
    return stamp_of(start.get());
  const auto fd =
    unique_fd{open_within(start.get(), std::string{rest}.c_str(), 0)};
  if (fd)
    return stamp_of(fd.get());
  if (errno == EXDEV)
    return walker{std::move(start), point, rest}.run();
  return failure(errno);
}

} // namespace troupe
