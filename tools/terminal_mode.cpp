#include "tools/terminal_mode.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <utility>

namespace troupe {

terminal_mode::terminal_mode(int fd) : fd_(fd) {
  auto now = termios{};
  if (::tcgetpgrp(fd) != ::getpgrp() || ::tcgetattr(fd, &now) != 0)
    return;
  auto raw = now;
  ::cfmakeraw(&raw);
  if (::tcsetattr(fd, TCSADRAIN, &raw) == 0)
    before_ = now;
}

terminal_mode::terminal_mode(terminal_mode&& x) noexcept
  : fd_(x.fd_), before_(std::exchange(x.before_, std::nullopt)) {
  // nop
}

terminal_mode& terminal_mode::operator=(terminal_mode&& x) noexcept {
  if (this != &x) {
    restore();
    fd_ = x.fd_;
    before_ = std::exchange(x.before_, std::nullopt);
  }
  return *this;
}

terminal_mode::~terminal_mode() {
  restore();
}

void terminal_mode::restore() noexcept {
  if (before_)
    ::tcsetattr(fd_, TCSADRAIN, &*before_);
  before_.reset();
}

std::optional<winsize> terminal_size() {
  for (const auto fd : {STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO}) {
    auto result = winsize{};
    if (::ioctl(fd, TIOCGWINSZ, &result) == 0 && result.ws_row > 0)
      return result;
  }
  return std::nullopt;
}

} // namespace troupe
