#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// A socket at which this process gets descriptors of another one that it cannot
/// open in /proc: of one that nobody may trace, since it has keys, or one in another
/// pid or mount namespace.
/// It is in no directory: the kernel draws a name that nobody else has. What comes
/// is of a process of this user, and no more is known of it.
/// Source: unix(7), "Autobind feature", SCM_RIGHTS.
class descriptor_inbox {
public:
  /// Without a socket if the system gives none.
  descriptor_inbox();

  /// What `send_descriptors` needs to know; empty without a socket.
  const std::string& name() const noexcept {
    return name_;
  }

  /// What one of this user has sent by now, at once; of several the next one, in the
  /// order in which they came. Nothing: there is no more.
  std::vector<unique_fd> take() const;

private:
  unique_fd socket_;
  std::string name_;
};

/// Sends a few descriptors to a socket of a process of this node; never waits.
/// @param owner Whose socket it has to be.
/// @returns 0, or the number of the system's error: EPERM if it is another user's,
///          EINVAL if that is no name of a socket.
int send_descriptors(const std::string& inbox, uint32_t owner,
                     const std::vector<int>& fds);

} // namespace troupe
