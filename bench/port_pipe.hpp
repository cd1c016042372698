#pragma once

#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

/// Tells the other process of a benchmark an address or a port.
/// @throws std::runtime_error if that is gone.
struct port_pipe {
  port_pipe() {
    if (::pipe(ends) != 0)
      throw std::runtime_error{"no pipe"};
  }

  void put(uint16_t port) {
    if (::write(ends[1], &port, sizeof(port)) != sizeof(port))
      throw std::runtime_error{"the other process is gone"};
  }

  /// @param x Without line ends.
  void put_text(const std::string& x) {
    const auto line = x + '\n';
    if (::write(ends[1], line.data(), line.size())
        != static_cast<ssize_t>(line.size()))
      throw std::runtime_error{"the other process is gone"};
  }

  std::string get_text() {
    auto result = std::string{};
    for (char c = 0;;) {
      if (::read(ends[0], &c, 1) != 1)
        throw std::runtime_error{"the other process is gone"};
      if (c == '\n')
        return result;
      result += c;
    }
  }

  uint16_t get() {
    uint16_t result = 0;
    if (::read(ends[0], &result, sizeof(result)) != sizeof(result))
      throw std::runtime_error{"the other process is gone"};
    return result;
  }

  int ends[2];
};
