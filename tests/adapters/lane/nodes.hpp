#pragma once

// Nodes of one DVM on a loop that the test runs itself. Nothing sleeps: what a
// test waits for is looked at again and again, up to a limit.

#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/lane/secure_handshake.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/sockets/stream_socket.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <dirent.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe::fixtures {
inline namespace lanes {

using namespace std::chrono_literals;

using context_ptr = std::shared_ptr<const secure_context>;

/// Fails the test unless there is a value.
template <class T>
T value_of(caf::expected<T> x) {
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return std::move(*x);
}

inline context_ptr context_of(const authority& from, uint32_t rank) {
  const auto mine = value_of(from.issue(rank, "n" + std::to_string(rank), {}));
  return value_of(secure_context::make(mine));
}

inline node_identity node(uint32_t rank) {
  return {"dvm", rank, "n" + std::to_string(rank)};
}

/// Descriptors of this process.
inline size_t descriptors() {
  size_t result = 0;
  auto* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr)
    ++result;
  ::closedir(folder);
  return result;
}

/// Runs `loop` until `done` holds.
/// @returns whether it did in time.
template <class F>
bool run_until(event_loop& loop, F done) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  auto is_done = false;
  std::function<void()> look = [&] {
    is_done = done();
    if (is_done || std::chrono::steady_clock::now() > end)
      loop.stop();
    else
      loop.post(look);
  };
  loop.post(look);
  loop.run();
  return is_done;
}

/// One end of a lane, and what came out of it.
struct lane_end {
  lane_end(event_loop& loop, secure_channel channel, lane_limits limits = {})
    : peer(std::move(channel.peer)),
      socket(loop, std::move(channel.way),
             {limits.turn_bytes, limits.queued_max},
             {[this](std::string_view x) {
                received += x;
                most = std::max(most, x.size());
                if (on_bytes)
                  on_bytes();
              },
              [this](const caf::error& x) {
                ++ends;
                is_cut = static_cast<bool>(x);
                if (x)
                  reason = status_of(x);
              },
              [this] { ++progress; },
              {}}) {
    socket.resume();
  }

  std::string received;
  size_t most = 0;
  std::function<void()> on_bytes;
  size_t ends = 0;
  bool is_cut = false;
  std::optional<status> reason;
  size_t progress = 0;
  node_identity peer;
  stream_socket socket;
};

} // namespace lanes
} // namespace troupe::fixtures
