#pragma once

#include "messages/connection.hpp"

#include <sys/types.h>

#include <vector>

namespace troupe {

/// Has the calling thread touch files with the rights of a user, until the end
/// of its life: user, group and groups. Other threads are not concerned. For a
/// thread that does nothing else meanwhile.
class user_rights {
public:
  explicit user_rights(credentials who);

  ~user_rights();

  user_rights(const user_rights&) = delete;

  user_rights& operator=(const user_rights&) = delete;

  /// Whether the thread has these rights, and no others. If not, touch nothing:
  /// only root can take the rights of others.
  bool held() const noexcept {
    return held_;
  }

private:
  void give_back() noexcept;

  bool held_ = false;

  /// Whether the thread has other rights than its process.
  bool changed_ = false;

  std::vector<gid_t> groups_;
};

} // namespace troupe
