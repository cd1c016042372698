#pragma once

#include <sys/ioctl.h>
#include <termios.h>

#include <optional>

namespace troupe {

/// Hands the keys of a terminal on as they are typed, while this exists: no
/// echo, no lines, no signals. Does nothing for anything but the terminal of
/// the foreground.
class terminal_mode {
public:
  terminal_mode() = default;

  explicit terminal_mode(int fd);

  terminal_mode(terminal_mode&& x) noexcept;

  terminal_mode& operator=(terminal_mode&& x) noexcept;

  ~terminal_mode();

  bool is_changed() const noexcept {
    return before_.has_value();
  }

private:
  void restore() noexcept;

  int fd_ = -1;
  std::optional<termios> before_;
};

/// The rows and columns of the first of our standard streams that is a
/// terminal.
std::optional<winsize> terminal_size();

} // namespace troupe
