#pragma once

#include <functional>
#include <thread>

namespace troupe {

/// Starts a thread on which no signal is taken: signals are the daemon's.
std::thread start_quiet_thread(std::function<void()> body);

} // namespace troupe
