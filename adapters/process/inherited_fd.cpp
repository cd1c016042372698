#include "adapters/process/inherited_fd.hpp"

#include <fcntl.h>
#include <signal.h>

#include <string>

namespace troupe {

unique_fd reopen(int fd, int access) {
  return unique_fd{::open(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                          access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
}

void occupy_standard_descriptors() {
  for (int fd = 0; fd <= STDERR_FILENO;) {
    fd = ::open("/dev/null", O_RDWR);
    if (fd > STDERR_FILENO)
      ::close(fd);
    if (fd < 0)
      return;
  }
}

void ignore_broken_pipes() {
  ::signal(SIGPIPE, SIG_IGN);
}

} // namespace troupe
