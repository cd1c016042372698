#pragma once

#include <unistd.h>

#include <cstdint>
#include <stdexcept>

/// Tells the other process of a benchmark a port.
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

  uint16_t get() {
    uint16_t result = 0;
    if (::read(ends[0], &result, sizeof(result)) != sizeof(result))
      throw std::runtime_error{"the other process is gone"};
    return result;
  }

  int ends[2];
};
