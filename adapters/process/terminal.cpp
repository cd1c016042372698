#include "adapters/process/terminal.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <utility>

namespace troupe {

namespace {

/// Makes a terminal pass on what is written as it is.
void make_plain(int master) {
  termios settings{};
  if (tcgetattr(master, &settings) != 0)
    return;
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  settings.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | ISTRIP
                                             | INPCK | IXON | IXOFF | IUCLC);
  settings.c_lflag &=
    ~static_cast<tcflag_t>(ECHO | ECHOE | ECHOK | ECHONL | ECHOCTL | ECHOKE);
  tcsetattr(master, TCSANOW, &settings);
}

} // namespace

std::optional<terminal> open_terminal(uint16_t rows, uint16_t columns) {
  terminal result;
  result.master.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char path[64];
  const auto fd = result.master.get();
  if (!result.master || grantpt(fd) != 0 || unlockpt(fd) != 0
      || ptsname_r(fd, path, sizeof(path)) != 0
      || fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
    return std::nullopt;
  result.path = path;
  if (rows > 0 && columns > 0) {
    const winsize size{rows, columns, 0, 0};
    ioctl(fd, TIOCSWINSZ, &size);
  } else {
    make_plain(fd);
  }
  return result;
}

std::string end_of_input(int master, char last) {
  termios settings{};
  if (tcgetattr(master, &settings) != 0)
    return {};
  const auto key = settings.c_cc[VEOF];
  if (key == _POSIX_VDISABLE)
    return {};
  // In the middle of a line it only ends the wait for its end.
  const auto ends_line =
    last == '\n' || (last == '\r' && (settings.c_iflag & ICRNL) != 0);
  const auto is_within_line = (settings.c_lflag & ICANON) != 0 && !ends_line;
  return std::string(is_within_line ? 2 : 1, static_cast<char>(key));
}

} // namespace troupe
