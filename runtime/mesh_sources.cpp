#include "runtime/mesh_sources.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace troupe {

namespace {

std::chrono::nanoseconds time_of(clockid_t which) {
  timespec x{};
  ::clock_gettime(which, &x);
  return std::chrono::seconds{x.tv_sec} + std::chrono::nanoseconds{x.tv_nsec};
}

/// Without bytes that nobody can guess nothing here is safe.
template <class T>
T random_bytes() {
  auto result = T{};
  auto* to = reinterpret_cast<unsigned char*>(&result);
  for (size_t done = 0; done < sizeof(T);) {
    const auto n = ::getrandom(to + done, sizeof(T) - done, 0);
    if (n > 0)
      done += static_cast<size_t>(n);
    else if (errno != EINTR)
      std::abort();
  }
  return result;
}

} // namespace

uint64_t random_number() {
  return random_bytes<uint64_t>();
}

node_options node_with_sources() {
  auto result = node_options{};
  const auto seconds = static_cast<uint64_t>(::time(nullptr));
  result.membership.incarnation = (seconds << 32) | random_bytes<uint32_t>();
  result.clock = [] { return steady_time{time_of(CLOCK_MONOTONIC)}; };
  result.boot_clock = [] { return node_time{time_of(CLOCK_BOOTTIME)}; };
  result.make_token = random_bytes<session_token>;
  return result;
}

} // namespace troupe
