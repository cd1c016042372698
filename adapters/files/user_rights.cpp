#include "adapters/files/user_rights.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>

namespace troupe {

namespace {

/// Source: credentials(7), NGROUPS_MAX.
constexpr size_t most_groups = 65536;

constexpr auto nobody = static_cast<uid_t>(-1);

/// For the calling thread; the function of the C library would change all.
bool set_groups(const std::vector<gid_t>& x) {
  return ::syscall(SYS_setgroups, x.size(), x.data()) == 0;
}

std::vector<gid_t> own_groups() {
  auto result = std::vector<gid_t>(
    static_cast<size_t>(std::max(::getgroups(0, nullptr), 0)));
  const auto n = ::getgroups(static_cast<int>(result.size()), result.data());
  result.resize(static_cast<size_t>(std::max(n, 0)));
  return result;
}

/// Those that a user is in; at least the one that it came with.
std::vector<gid_t> groups_of(credentials who) {
  constexpr size_t buffer_bytes = size_t{64} << 10;
  constexpr size_t usual = 64;
  auto buffer = std::vector<char>(buffer_bytes);
  auto entry = passwd{};
  passwd* found = nullptr;
  if (::getpwuid_r(who.uid, &entry, buffer.data(), buffer.size(), &found) != 0
      || found == nullptr)
    return {who.gid};
  auto result = std::vector<gid_t>(usual);
  for (;;) {
    auto n = static_cast<int>(result.size());
    if (::getgrouplist(found->pw_name, who.gid, result.data(), &n) >= 0) {
      result.resize(static_cast<size_t>(n));
      return result;
    }
    if (result.size() >= most_groups)
      return {who.gid};
    result.resize(std::min(result.size() * 4, most_groups));
  }
}

} // namespace

user_rights::user_rights(credentials who) {
  if (who.uid == ::geteuid()) {
    held_ = true;
    return;
  }
  if (::geteuid() != 0 || who.uid == nobody || who.gid == nobody)
    return;
  groups_ = own_groups();
  changed_ = true;
  if (!set_groups(groups_of(who)))
    return;
  ::setfsgid(who.gid);
  // Takes away what root may beyond its rights, too. Source: capabilities(7).
  ::setfsuid(who.uid);
  held_ = static_cast<uid_t>(::setfsuid(nobody)) == who.uid
          && static_cast<gid_t>(::setfsgid(nobody)) == who.gid;
}

user_rights::~user_rights() {
  if (changed_)
    give_back();
}

void user_rights::give_back() noexcept {
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  // A thread of the pool with the rights of somebody else must not go on.
  if (!set_groups(groups_)
      || static_cast<uid_t>(::setfsuid(nobody)) != ::geteuid())
    std::terminate();
}

} // namespace troupe
