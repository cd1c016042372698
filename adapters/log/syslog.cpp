#include "adapters/log/syslog.hpp"

#include "adapters/loop/local_address.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "config/escape.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace troupe {

namespace {

constexpr uint8_t user_facility = 1;

/// What daemons take in one entry.
constexpr size_t max_text = 8192;

constexpr auto send_limit = timeval{1, 0};

/// @returns nothing, and the reason in `errno`, if nobody listens.
unique_fd connect_to(const std::string& path, int type) {
  const auto address = local_address(path);
  if (!address)
    return {};
  auto fd = unique_fd{socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
  if (!fd)
    return {};
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &send_limit,
             sizeof(send_limit));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address),
              sizeof(*address))
      != 0)
    return {};
  return fd;
}

std::string entry(const std::string& name, uint8_t priority,
                  const std::string& text) {
  const auto now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char date[32];
  std::strftime(date, sizeof(date), "%b %e %H:%M:%S", &local);
  return '<' + std::to_string(user_facility << 3 | (priority & 7)) + '>' + date
         + ' ' + escape_control_characters(name) + '['
         + std::to_string(getpid())
         + "]: " + escape_control_characters(text.substr(0, max_text));
}

} // namespace

delivery_outcome write_syslog(const std::string& socket,
                              const std::string& name, uint8_t priority,
                              const std::string& text) {
  auto line = entry(name, priority, text);
  auto fd = connect_to(socket, SOCK_DGRAM);
  if (!fd && errno == EPROTOTYPE) {
    fd = connect_to(socket, SOCK_STREAM);
    line += '\0'; // What ends an entry there.
  }
  if (!fd)
    return {status::not_supported, "no system log at " + socket + ": "
                                     + std::strerror(errno)
                                     + "; start a syslog daemon"};
  if (send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0)
    return {status::error, "the system log does not take the entry: "
                             + std::string{std::strerror(errno)}};
  return {status::success, {}};
}

} // namespace troupe
