#include "adapters/local/session_directory.hpp"

#include "adapters/local/system_error.hpp"

#include <sys/file.h>
#include <unistd.h>

namespace troupe {

namespace {

/// Sessions of one user at a time; what is beyond is not looked at.
constexpr size_t max_sessions = 4096;

/// Sessions of one process.
constexpr auto max_attempts = 64;

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

} // namespace

caf::expected<session_directory>
session_directory::create(const std::string& base) {
  auto above = directory::open(base);
  if (!above)
    return std::move(above.error());
  const auto user = "troupe-" + std::to_string(::geteuid());
  auto parent = above->create_private(user);
  if (!parent && status_of(parent.error()) == status::exists)
    parent = above->open_private(user);
  if (!parent)
    return std::move(parent.error());
  sweep(*parent);
  const auto pid = std::to_string(::getpid());
  auto failure = caf::error{};
  for (auto i = 0; i < max_attempts; ++i) {
    // A process has one session as a rule; the others get a number.
    auto name = i == 0 ? pid : pid + "." + std::to_string(i);
    auto self = parent->create_private(name);
    if (!self && status_of(self.error()) == status::exists)
      continue;
    if (!self) {
      // Another session may have swept it away before we opened it, and a
      // third may have made it again by now.
      failure = std::move(self.error());
      continue;
    }
    // Another session may have swept it away before we had the lock.
    if (lock(*self) && parent->identify(name) == self->identity())
      return session_directory{std::move(*parent), std::move(*self),
                               std::move(name)};
  }
  if (failure)
    return failure;
  return make_error(status::exists,
                    parent->path_of(pid) + " and the like are all in use");
}

session_directory&
session_directory::operator=(session_directory&& other) noexcept {
  if (this != &other) {
    remove();
    parent_ = std::move(other.parent_);
    self_ = std::move(other.self_);
    name_ = std::move(other.name_);
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
