#include "adapters/process/descriptors.hpp"

#include "adapters/sockets/acceptor.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

namespace troupe {

// -- descriptors we were started with ----------------------------------------

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

// -- how many there may be ---------------------------------------------------

namespace {

// Limits belong to the process, so does what they were. Written before there
// are threads.
std::optional<rlimit> former;

} // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
    return;
  const auto before = limit;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
    former = before;
}

const rlimit* former_descriptor_limit() {
  return former ? &*former : nullptr;
}

descriptor_use current_descriptors() {
  auto result = descriptor_use{};
  result.reserve = acceptor::bounds{}.descriptors_in_reserve;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
    result.limit = limit.rlim_cur;
  auto failure = std::error_code{};
  auto i = std::filesystem::directory_iterator{"/proc/self/fd", failure};
  for (; !failure && i != end(i); i.increment(failure))
    ++result.in_use;
  if (!failure) {
    --result.in_use; // The folder itself is among them.
    return result;
  }
  // The kernel gives out the lowest that is free; without any all are used.
  const auto next = unique_fd{fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)};
  result.in_use = next ? static_cast<uint64_t>(next.get()) : result.limit;
  return result;
}

} // namespace troupe
