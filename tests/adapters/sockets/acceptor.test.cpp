#include "adapters/sockets/acceptor.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/sockets/tcp_socket.hpp"
#include "tests/adapters/local/world.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// The most connections that were taken in a pass of the loop, when ten wait.
size_t most_in_a_pass(size_t turn) {
  constexpr size_t count = 10;
  event_loop loop;
  auto door = listen_on_loopback("127.0.0.1", 0, 64);
  CAF_REQUIRE(door);
  const auto port = local_address(door->get()).port;
  std::vector<std::unique_ptr<peer>> peers;
  for (size_t i = 0; i < count; ++i)
    peers.push_back(std::make_unique<peer>(port));
  size_t taken = 0;
  size_t most = 0;
  acceptor uut{loop,
               {4, 100ms, turn},
               {[&](unique_fd, size_t) {
                  ++taken;
                  loop.stop();
                },
                [] {}}};
  uut.add(std::move(*door));
  // The pass that takes some is the last of a run.
  while (taken < count) {
    const auto before = taken;
    loop.run();
    most = std::max(most, taken - before);
  }
  CAF_CHECK_EQUAL(taken, count);
  return most;
}

} // namespace

CAF_TEST(MND-A15 a storm is taken one connection in a pass of the loop) {
  CAF_CHECK_EQUAL(most_in_a_pass(1), 1u);
  CAF_CHECK_EQUAL(most_in_a_pass(3), 3u);
}

CAF_TEST(MND-A15 a storm has half of the thread) {
  constexpr size_t count = 10;
  constexpr auto work = 2ms;
  event_loop loop;
  auto door = listen_on_loopback("127.0.0.1", 0, 64);
  CAF_REQUIRE(door);
  const auto port = local_address(door->get()).port;
  std::vector<std::unique_ptr<peer>> peers;
  for (size_t i = 0; i < count; ++i)
    peers.push_back(std::make_unique<peer>(port));
  size_t taken = 0;
  acceptor uut{loop,
               {4, 100ms, 1},
               {[&](unique_fd, size_t) {
                  const auto end = std::chrono::steady_clock::now() + work;
                  while (std::chrono::steady_clock::now() < end)
                    continue; // What a connection costs.
                  if (++taken == count)
                    loop.stop();
                },
                [] {}}};
  const auto start = std::chrono::steady_clock::now();
  uut.add(std::move(*door));
  loop.run();
  CAF_CHECK_EQUAL(taken, count);
  // Between any two it rests as long as the first took.
  CAF_CHECK(std::chrono::steady_clock::now() - start
            >= count * work + (count - 1) * work);
}
