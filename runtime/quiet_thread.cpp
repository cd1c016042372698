#include "runtime/quiet_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace troupe {

std::thread start_quiet_thread(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  auto result = std::thread{std::move(body)};
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

} // namespace troupe
