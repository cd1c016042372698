#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "tools/tcp_reach.hpp"

#include <thread>

namespace troupe {

/// A port that nodes can connect to. Whoever does is let go at once, on a thread of
/// its own, also when no descriptor is free: one is kept for that.
class open_door {
public:
  open_door();

  ~open_door();

  open_door(const open_door&) = delete;

  open_door& operator=(const open_door&) = delete;

  const open_port& port() const {
    return port_;
  }

private:
  void run();
  bool let_go();

  open_port port_;
  unique_fd stop_;

  /// Given up while a connection is accepted for which there is no other.
  unique_fd spare_;
  std::thread thread_;
};

} // namespace troupe
