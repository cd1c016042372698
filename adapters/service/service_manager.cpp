#include "adapters/service/service_manager.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace troupe {

namespace {

constexpr auto socket_variable = "NOTIFY_SOCKET";

/// Functions of libsystemd, by their types: the library is loaded for services
/// alone, since the loader takes milliseconds for it and what it needs.
/// Source: sd_notify(3), sd_watchdog_enabled(3).
struct libsystemd {
  int (*notify)(int unset_environment, const char* state) = nullptr;
  int (*watchdog_enabled)(int unset_environment, uint64_t* usec) = nullptr;

  static libsystemd load() {
    auto result = libsystemd{};
    // Stays for the rest of the process.
    auto* library = ::dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      return result;
    result.notify =
      reinterpret_cast<decltype(result.notify)>(::dlsym(library, "sd_notify"));
    result.watchdog_enabled =
      reinterpret_cast<decltype(result.watchdog_enabled)>(
        ::dlsym(library, "sd_watchdog_enabled"));
    return result;
  }

  explicit operator bool() const noexcept {
    return notify != nullptr && watchdog_enabled != nullptr;
  }
};

std::string one_line(std::string_view text) {
  auto result = std::string{text.substr(0, service_manager::max_status)};
  std::replace_if(
    result.begin(), result.end(),
    [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; },
    ' ');
  return result;
}

} // namespace

bool is_service_variable(std::string_view name) {
  constexpr std::string_view names[] = {socket_variable, "WATCHDOG_PID",
                                        "WATCHDOG_USEC"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

service_manager::service_manager(event_loop& loop)
  : life_(loop, [this] { show_life(); }) {
  // nop
}

void service_manager::attach(const journal& log) {
  const auto* socket = ::getenv(socket_variable);
  if (socket == nullptr || *socket == '\0')
    return;
  const auto found = libsystemd::load();
  if (!found) {
    const auto* why = ::dlerror();
    log(severity::warning,
        "the service manager at " + one_line(socket)
          + " (NOTIFY_SOCKET) hears nothing from this daemon: "
          + (why != nullptr ? why : "libsystemd.so.0 lacks a function")
          + "; install libsystemd0");
    return;
  }
  notify_ = found.notify;
  auto limit = uint64_t{0};
  if (found.watchdog_enabled(0, &limit) <= 0)
    return;
  constexpr auto shortest = uint64_t{2000};
  constexpr auto longest = uint64_t{1} << 53; // Nanoseconds are 64 bits.
  period_ = std::chrono::microseconds{std::clamp(limit, shortest, longest) / 2};
  show_life();
}

void service_manager::set_ready() {
  if (!is_ready_)
    tell("READY=1");
  is_ready_ = true;
}

void service_manager::set_status(std::string_view text) {
  auto line = one_line(text);
  if (line == status_)
    return;
  status_ = std::move(line);
  tell("STATUS=" + status_);
}

void service_manager::set_stopping() {
  if (!is_stopping_)
    tell("STOPPING=1");
  is_stopping_ = true;
}

/// What does not arrive is not our trouble: without the manager nobody listens.
void service_manager::tell(const std::string& assignment) {
  if (notify_ != nullptr)
    notify_(0, assignment.c_str());
}

void service_manager::show_life() {
  tell("WATCHDOG=1");
  life_.start(period_);
}

} // namespace troupe
