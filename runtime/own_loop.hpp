#pragma once

#include "adapters/loop/loop_system.hpp"

#include <functional>
#include <thread>

namespace troupe {

struct runtime_options;

// A loop that whoever embeds us does not run himself.

/// What it takes of the options.
loop_system::settings loop_settings(const runtime_options& options);

/// Starts a thread on which no signal is taken: signals are the daemon's.
std::thread start_quiet_thread(std::function<void()> body);

} // namespace troupe
