#include "tools/window.hpp"

#include "adapters/loop/local_address.hpp"
#include "adapters/loop/read_write.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/descriptors.hpp"
#include "tools/command_line.hpp"
#include "tools/printing.hpp"
#include "tools/terminal_mode.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <string_view>
#include <thread>

namespace troupe {

namespace {

constexpr size_t room_size = size_t{64} << 10;

/// Until one end is gone.
void copy(int from, int to) {
  auto room = std::string(room_size, '\0');
  for (;;) {
    const auto n = ::read(from, room.data(), room.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0
        || !write_all(to,
                      std::string_view{room}.substr(0, static_cast<size_t>(n))))
      return;
  }
}

unique_fd connect_to(const std::string& path) {
  const auto address = local_address(path);
  if (!address)
    return {};
  auto fd = unique_fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (fd
      && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address),
                   sizeof(*address))
           != 0)
    fd.reset();
  return fd;
}

} // namespace

int window(const std::vector<std::string>& args) {
  if (args.size() == 1
      && gives_help(args.front(),
                    "Usage: troupe window [--raw] SOCKET\n\nWhat "
                    "troupe run --screen starts in each window.\n"))
    return 0;
  const auto is_raw = args.size() == 2 && args.front() == "--raw";
  if (args.size() != (is_raw ? 2 : 1)) {
    std::cerr << notice("troupe window",
                        "is started by troupe run --screen only; use that");
    return 2;
  }
  ignore_broken_pipes();
  const auto fd = connect_to(args.back());
  if (!fd) {
    std::cerr << notice("troupe window",
                        "cannot reach the launcher at " + args.back() + ": "
                          + std::strerror(errno)
                          + "; see whether troupe run is still there");
    return 1;
  }
  auto mode = is_raw ? terminal_mode{STDIN_FILENO} : terminal_mode{};
  auto typing = std::thread{[to = fd.get()] {
    copy(STDIN_FILENO, to);
    ::shutdown(to, SHUT_WR);
  }};
  copy(fd.get(), STDOUT_FILENO);
  mode = {};
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    typing.detach();
    std::_Exit(0); // It may wait for input for ever.
  }
  ::shutdown(fd.get(), SHUT_RDWR);
  std::cout << "[the process is over; Enter closes the window]" << std::flush;
  typing.join();
  return 0;
}

} // namespace troupe
