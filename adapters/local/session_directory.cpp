#include "adapters/local/session_directory.hpp"

#include "adapters/sockets/system_error.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string_view>

namespace troupe {

namespace {

/// Sessions of one user at a time; what is beyond is not looked at.
constexpr size_t max_sessions = 4096;

/// Names in the directory above, which everybody may fill.
constexpr size_t max_names = size_t{1} << 16;

/// Sessions of one process, and names by chance.
constexpr auto max_attempts = 64;

/// What is behind the usual name if somebody else has that.
constexpr auto letters = std::string_view{
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"};
constexpr size_t num_letters = 8;

bool lock(const directory& x) {
  return ::flock(x.fd(), LOCK_EX | LOCK_NB) == 0;
}

/// Removes what sessions that ended without cleaning up left behind.
void sweep(const directory& parent) {
  for (const auto& name : parent.list(max_sessions)) {
    const auto what = parent.identify(name);
    const auto session = parent.open_private(name);
    if (what && session && session->identity() == what && lock(*session))
      parent.remove_tree(name, *what);
  }
}

constexpr auto name_begin = std::string_view{"troupe-"};

std::string usual_name() {
  return std::string{name_begin} + std::to_string(::geteuid());
}

/// Whether a name is the usual one and letters by chance.
bool is_other_name(const std::string& x) {
  // Of all that is in /tmp, little.
  if (x.compare(0, name_begin.size(), name_begin) != 0)
    return false;
  const auto begin = usual_name() + ".";
  return x.size() == begin.size() + num_letters
         && x.compare(0, begin.size(), begin) == 0;
}

std::string name_by_chance() {
  auto source = std::random_device{};
  auto pick = std::uniform_int_distribution<size_t>{0, letters.size() - 1};
  auto result = usual_name() + ".";
  for (size_t i = 0; i < num_letters; ++i)
    result += letters[pick(source)];
  return result;
}

/// A private directory, made if there is nothing of its name.
caf::expected<directory> open_or_create(const directory& above,
                                        const std::string& name) {
  // Others of this user make and remove it at the same time.
  for (auto i = 0; i < max_attempts; ++i) {
    auto result = above.create_private(name);
    if (result || status_of(result.error()) != status::exists)
      return result;
    result = above.open_private(name);
    if (result || above.identify(name))
      return result;
  }
  return make_error(status::exists,
                    above.path_of(name)
                      + " comes and goes; see who makes and removes it");
}

/// The user's directory: under its usual name unless somebody has put anything
/// else there.
caf::expected<directory> open_parent(const directory& above,
                                     std::string& notice) {
  auto usual = open_or_create(above, usual_name());
  if (usual || status_of(usual.error()) != status::no_permissions)
    return usual;
  auto result = caf::expected<directory>{usual.error()};
  for (const auto& name : above.list(max_names))
    if (!result && is_other_name(name))
      result = above.open_private(name);
  // Nobody knows a name by chance before us.
  for (auto i = 0; !result && i < max_attempts; ++i)
    result = above.create_private(name_by_chance());
  if (result)
    notice = "session files are in " + result->path() + ", since "
             + reason_of(usual.error()) + "; remove that if you can";
  return result;
}

/// The directory of one session, with the lock.
struct locked_directory {
  directory self;
  std::string name;
};

/// @param wanted The name of one that is being made anew; a process of the
///               session may have made it already.
caf::expected<locked_directory> make_session(const directory& parent,
                                             const std::string& wanted = {}) {
  const auto pid = std::to_string(::getpid());
  auto failure = caf::error{};
  for (auto i = wanted.empty() ? 0 : -1; i < max_attempts; ++i) {
    // A process has one session as a rule; the others get a number.
    auto name = i < 0 ? wanted : i == 0 ? pid : pid + "." + std::to_string(i);
    auto self =
      i < 0 ? open_or_create(parent, name) : parent.create_private(name);
    if (!self && status_of(self.error()) == status::exists)
      continue;
    if (!self) {
      // Another session may have swept it away before we opened it, and a
      // third may have made it again by now.
      failure = std::move(self.error());
      continue;
    }
    // Another session may have swept it away before we had the lock.
    if (lock(*self) && parent.identify(name) == self->identity())
      return locked_directory{std::move(*self), std::move(name)};
  }
  if (failure)
    return failure;
  return make_error(status::exists,
                    parent.path_of(pid)
                      + " and the like are all in use; remove those of servers "
                        "that are gone, or set TMPDIR");
}

} // namespace

caf::expected<session_directory>
session_directory::create(const std::string& base) {
  auto failure = std::error_code{};
  auto result = session_directory{};
  // Processes of the session have working directories of their own.
  result.base_ = std::filesystem::absolute(base, failure).string();
  if (failure)
    result.base_ = base;
  const auto above = directory::open(result.base_);
  if (!above)
    return above.error();
  auto parent = open_parent(*above, result.notice_);
  if (!parent)
    return std::move(parent.error());
  result.parent_ = std::move(*parent);
  sweep(result.parent_);
  auto made = make_session(result.parent_);
  if (!made)
    return std::move(made.error());
  result.self_ = std::move(made->self);
  result.name_ = std::move(made->name);
  return result;
}

std::vector<directory> session_directory::of_user(const directory& base) {
  auto result = std::vector<directory>{};
  const auto usual = usual_name();
  if (auto x = base.open_private(usual))
    result.push_back(std::move(*x));
  for (const auto& name : base.list(max_names))
    if (is_other_name(name))
      if (auto x = base.open_private(name))
        result.push_back(std::move(*x));
  return result;
}

caf::expected<bool> session_directory::renew() {
  const auto above = directory::open(base_);
  if (!above)
    return above.error();
  const auto parent = parent_.path().substr(parent_.path().rfind('/') + 1);
  const auto has_parent = above->identify(parent) == parent_.identity();
  if (has_parent && parent_.identify(name_) == self_.identity())
    return false;
  if (!has_parent) {
    auto made = open_parent(*above, notice_);
    if (!made)
      return std::move(made.error());
    parent_ = std::move(*made);
  }
  auto made = make_session(parent_, name_);
  if (!made)
    return std::move(made.error());
  self_ = std::move(made->self);
  name_ = std::move(made->name);
  return true;
}

void session_directory::touch() const noexcept {
  parent_.touch();
  self_.touch();
}

session_directory&
session_directory::operator=(session_directory&& other) noexcept {
  if (this != &other) {
    remove();
    base_ = std::move(other.base_);
    parent_ = std::move(other.parent_);
    self_ = std::move(other.self_);
    name_ = std::move(other.name_);
    notice_ = std::move(other.notice_);
  }
  return *this;
}

session_directory::~session_directory() {
  remove();
}

void session_directory::remove() noexcept {
  if (!self_)
    return;
  if (const auto what = self_.identity())
    parent_.remove_tree(name_, *what);
  self_ = directory{};
}

} // namespace troupe
