#include "runtime/own_loop.hpp"

#include "runtime/runtime.hpp"

#include <caf/actor_system_config.hpp>

#include <pthread.h>

#include <csignal>
#include <string>
#include <utility>

namespace troupe {

loop_system::settings loop_settings(const runtime_options& options) {
  auto result = loop_system::settings{};
  if (options.log)
    result.print = [log = options.log](const auto& line) {
      log(severity::warning, std::string{line});
    };
  if (options.configure)
    result.configure = [f = options.configure](caf::actor_system_config& cfg,
                                               event_loop&) { f(cfg); };
  return result;
}

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
