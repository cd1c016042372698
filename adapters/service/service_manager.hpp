#pragma once

#include "adapters/loop/timer.hpp"
#include "base/journal.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace troupe {

class event_loop;

/// Whether a variable of the environment is what a service manager tells its
/// service, and so not for the processes that the service starts: one that
/// wrote to the socket would speak in the service's name.
/// Source: sd_notify(3), sd_watchdog_enabled(3).
bool is_service_variable(std::string_view name);

/// Whoever has started this process as a service, such as systemd: hears when
/// it is ready, what it does, that it ends, and as long as its loop turns that
/// it is alive. Until `attach`, and without NOTIFY_SOCKET in the environment,
/// there is none: then nothing is done, and no library is loaded.
///
/// The library writes to the socket at once. A manager that reads nothing can
/// make it wait, as one that stops its service can.
///
/// For the thread of the loop. Source: sd_notify(3), sd_watchdog_enabled(3).
class service_manager {
public:
  explicit service_manager(event_loop& loop);

  service_manager(const service_manager&) = delete;
  service_manager& operator=(const service_manager&) = delete;

  /// Looks for a manager in the environment. If that has set a limit for signs
  /// of life, they begin: one each half of it, at most one a millisecond.
  /// @param log Hears why a manager that is there cannot be told anything.
  void attach(const journal& log);

  /// @returns whether there is a manager.
  bool is_attached() const noexcept {
    return notify_ != nullptr;
  }

  /// The service does what it is for. Only the first call says so.
  void set_ready();

  /// What it does, for people. Only what has changed is said.
  /// @param text Control characters become spaces; after `max_status` bytes it
  ///             is cut off.
  void set_status(std::string_view text);

  /// It has begun to end. Only the first call says so.
  void set_stopping();

  /// Bytes of a status.
  static constexpr size_t max_status = 512;

private:
  void tell(const std::string& assignment);
  void show_life();

  /// sd_notify(3); null: there is no manager.
  int (*notify_)(int unset_environment, const char* state) = nullptr;
  timer life_;

  /// Time between signs of life.
  std::chrono::microseconds period_{0};
  bool is_ready_ = false;
  bool is_stopping_ = false;
  std::string status_;
};

} // namespace troupe
