#include "adapters/local/frame_socket.hpp"

#include "adapters/loop/event_loop.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

struct fixture {
  fixture() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
      CAF_FAIL("no sockets");
    mine = unique_fd{fds[0]};
    other = unique_fd{fds[1]};
  }

  void start(frame_socket::bounds bounds = {}) {
    frame_socket::callbacks handlers;
    handlers.on_frame = [this](const wire::frame& x) {
      frames.emplace_back(x.payload);
      if (on_frame)
        on_frame();
    };
    handlers.on_end = [this](const caf::error& why) {
      ++ends;
      reason = why ? std::optional{status_of(why)} : std::nullopt;
    };
    handlers.on_progress = [this] { ++progress; };
    uut.emplace(loop, std::move(mine), bounds, std::move(handlers));
    uut->resume();
  }

  /// Runs the loop until `done` holds.
  template <class F>
  void run_until(F done) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    std::function<void()> look = [&] {
      if (done() || std::chrono::steady_clock::now() > end)
        loop.stop();
      else
        loop.post(look);
    };
    loop.post(look);
    loop.run();
    if (!done())
      CAF_FAIL("waited in vain");
  }

  /// Lets the loop go on for a few passes.
  void settle() {
    auto passes = 0;
    run_until([&] { return ++passes > 20; });
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto done = ::send(other.get(), bytes.data(), bytes.size(),
                               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (done <= 0)
        CAF_FAIL("cannot write");
      bytes.remove_prefix(static_cast<size_t>(done));
    }
  }

  size_t read() {
    std::string chunk(size_t{1} << 20, '\0');
    const auto got =
      ::recv(other.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    received.append(chunk.data(), got > 0 ? static_cast<size_t>(got) : 0);
    return received.size();
  }

  static std::string frame(std::string_view payload) {
    std::string result;
    if (wire::append_frame(result, 101, payload))
      CAF_FAIL("no frame");
    return result;
  }

  event_loop loop;
  unique_fd mine;
  unique_fd other;
  std::vector<std::string> frames;
  std::function<void()> on_frame;
  std::string received;
  size_t ends = 0;
  size_t progress = 0;
  std::optional<status> reason;
  std::optional<frame_socket> uut; // Ends before the loop.
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(frame_socket_tests, fixture)

CAF_TEST(frames come in whole and in order) {
  start();
  const auto bytes = frame("one") + frame("") + frame("three");
  for (const auto c : bytes) {
    write({&c, 1});
    settle();
  }
  CAF_CHECK(frames == (std::vector<std::string>{"one", "", "three"}));
  CAF_CHECK_EQUAL(uut->bytes_received(), bytes.size());
}

CAF_TEST(what is answered in the same pass is not acknowledged as well) {
  start();
  write(frame("question"));
  run_until([&] { return frames.size() == 1; });
  settle();
  CAF_CHECK_EQUAL(uut->acknowledgements(), 1u);
  // As actors answer: when all sockets have been read, and written after that.
  auto written =
    loop_event{loop.base(), -1, 0, [&] { uut->send(frame("answer")); }};
  auto answered = loop_event{loop.base(), -1, 0, [&] { written.fire_now(); }};
  on_frame = [&] { answered.fire_now(); };
  for (auto i = 0; i < 10; ++i) {
    const auto before = frames.size();
    write(frame("question"));
    run_until([&] { return frames.size() > before; });
    settle();
  }
  CAF_CHECK_EQUAL(uut->acknowledgements(), 1u);
  CAF_CHECK(read() > 0);
}

CAF_TEST(a peer that waits for its answers is not told at once that it was read) {
  start();
  auto answers = true;
  on_frame = [&] {
    if (answers)
      uut->send(frame("answer"));
  };
  const auto ask = [&] {
    const auto before = frames.size();
    write(frame("question"));
    run_until([&] { return frames.size() > before; });
  };
  for (uint32_t i = 0; i < acknowledgement_rule::least_waits; ++i)
    ask();
  CAF_CHECK_EQUAL(uut->acknowledgements(), 0u);
  // In the end it is told.
  answers = false;
  const auto begin = std::chrono::steady_clock::now();
  ask();
  run_until([&] { return uut->acknowledgements() == 1; });
  CAF_CHECK(std::chrono::steady_clock::now() - begin >= 5ms);
  // From now on it is one that goes on without.
  ask();
  settle();
  CAF_CHECK_EQUAL(uut->acknowledgements(), 2u);
}

CAF_TEST(MND-A6 a message has its time and no more) {
  auto bounds = frame_socket::bounds{};
  bounds.message_time = 100ms;
  start(bounds);
  write(frame("whole"));
  write(frame("half").substr(0, 18));
  run_until([&] { return ends > 0; });
  CAF_CHECK(reason == status::timeout);
  CAF_CHECK_EQUAL(frames.size(), 1u);
}

CAF_TEST(MND-A6 no time counts while nothing is read) {
  auto bounds = frame_socket::bounds{};
  bounds.message_time = 100ms;
  start(bounds);
  const auto bytes = frame("half");
  write(bytes.substr(0, 18));
  run_until([&] { return uut->bytes_received() == 18; });
  uut->pause();
  const auto start = std::chrono::steady_clock::now();
  run_until([&] { return std::chrono::steady_clock::now() - start > 300ms; });
  CAF_CHECK_EQUAL(ends, 0u);
  uut->resume();
  write(bytes.substr(18));
  run_until([&] { return frames.size() == 1; });
}

CAF_TEST(LIM3 a large frame comes in) {
  start();
  const auto payload = std::string(size_t{5} << 20, 'x');
  const auto bytes = frame(payload);
  size_t sent = 0;
  run_until([&] {
    const auto done = ::send(other.get(), bytes.data() + sent,
                             bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    sent += done > 0 ? static_cast<size_t>(done) : 0;
    return !frames.empty();
  });
  CAF_CHECK(frames.front() == payload);
}

CAF_TEST(X13 LIM3 a frame over the limit ends the connection) {
  frame_socket::bounds bounds;
  bounds.message_size = 8;
  start(bounds);
  write(frame("12345678") + frame("123456789"));
  run_until([&] { return ends > 0; });
  CAF_CHECK_EQUAL(frames.size(), 1u);
  CAF_CHECK(reason && *reason != status::lost_connection);
  CAF_CHECK(!uut->is_open());
}

CAF_TEST(LIM8 a turn takes so many messages) {
  frame_socket::bounds bounds;
  bounds.turn_messages = 4;
  start(bounds);
  std::string bytes;
  for (auto i = 0; i < 10; ++i)
    bytes += frame("x");
  write(bytes);
  std::vector<size_t> seen;
  run_until([&] {
    if (seen.empty() || seen.back() != frames.size())
      seen.push_back(frames.size());
    return frames.size() == 10;
  });
  for (size_t i = 1; i < seen.size(); ++i)
    CAF_CHECK(seen[i] - seen[i - 1] <= 4);
}

CAF_TEST(MND-A4 a turn takes so many bytes of a long message) {
  frame_socket::bounds bounds;
  bounds.turn_bytes = size_t{16} << 10;
  start(bounds);
  const auto bytes = frame(std::string(size_t{1} << 20, 'x'));
  size_t sent = 0;
  uint64_t before = 0;
  uint64_t most = 0;
  run_until([&] {
    // Posted again and again: the loop has had its turn at the socket in between.
    const auto now = uut->bytes_received();
    most = std::max(most, now - before);
    before = now;
    const auto done = ::send(other.get(), bytes.data() + sent,
                             bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    sent += done > 0 ? static_cast<size_t>(done) : 0;
    return !frames.empty();
  });
  CAF_CHECK(most > 0);
  CAF_CHECK(most <= bounds.turn_bytes);
}

CAF_TEST(frames of a peer that has closed are not lost) {
  frame_socket::bounds bounds;
  bounds.turn_messages = 1;
  start(bounds);
  write(frame("one") + frame("two") + frame("three"));
  other.reset();
  run_until([&] { return ends > 0; });
  CAF_CHECK_EQUAL(frames.size(), 3u);
  CAF_CHECK(!reason);
}

CAF_TEST(a peer that closes within a frame is lost) {
  start();
  write(frame("one").substr(0, 17));
  other.reset();
  run_until([&] { return ends > 0; });
  CAF_CHECK(reason == status::lost_connection);
  CAF_CHECK_EQUAL(ends, 1u);
}

CAF_TEST(a pause keeps frames in the socket) {
  start();
  on_frame = [this] { uut->pause(); };
  write(frame("one") + frame("two") + frame("three"));
  run_until([&] { return frames.size() == 1; });
  settle();
  CAF_CHECK_EQUAL(frames.size(), 1u);
  write(frame("four"));
  settle();
  CAF_CHECK_EQUAL(frames.size(), 1u);
  on_frame = nullptr;
  uut->resume();
  run_until([&] { return frames.size() == 4; });
}

CAF_TEST(a peer that goes during a pause is noticed) {
  start();
  uut->pause();
  write(frame("one"));
  other.reset();
  run_until([&] { return ends > 0; });
  CAF_CHECK(reason == status::lost_connection);
  CAF_CHECK(frames.empty());
}

CAF_TEST(what the kernel does not take waits) {
  start();
  const auto bytes = std::string(size_t{8} << 20, 'x');
  uut->send(bytes);
  CAF_CHECK(uut->queued() > 0);
  CAF_CHECK_EQUAL(uut->queued() + uut->bytes_sent(), bytes.size());
  run_until([&] { return read() == bytes.size(); });
  CAF_CHECK_EQUAL(uut->queued(), 0u);
  CAF_CHECK(progress > 0);
  CAF_CHECK(received == bytes);
}

CAF_TEST(LIM11 X25 too much that waits ends the connection) {
  frame_socket::bounds bounds;
  bounds.queued_max = size_t{1} << 20;
  start(bounds);
  for (auto i = 0; i < 100; ++i)
    uut->send(std::string(size_t{64} << 10, 'x'));
  CAF_CHECK_EQUAL(ends, 0u); // Not within `send`.
  run_until([&] { return ends > 0; });
  CAF_CHECK(reason == status::out_of_resource);
  CAF_CHECK_EQUAL(ends, 1u);
}

CAF_TEST(writing to a peer that is gone ends the connection) {
  start();
  uut->pause();
  other.reset();
  uut->send("x");
  CAF_CHECK_EQUAL(ends, 0u);
  run_until([&] { return ends > 0; });
  CAF_CHECK(reason == status::in_errno);
}

CAF_TEST(closing in order sends what waits) {
  start();
  const auto bytes = std::string(size_t{8} << 20, 'x');
  uut->send(bytes);
  uut->close_when_sent(20s);
  uut->send("late");
  write(frame("late"));
  run_until([&] {
    read();
    return ends > 0;
  });
  read();
  CAF_CHECK(received == bytes);
  CAF_CHECK(!reason);
  CAF_CHECK(frames.empty());
}

CAF_TEST(closing in order does not wait for ever) {
  start();
  uut->send(std::string(size_t{8} << 20, 'x'));
  uut->close_when_sent(50ms);
  run_until([&] { return ends > 0; });
  CAF_CHECK(!reason);
}

CAF_TEST(closing in order with nothing to send is quick) {
  start();
  uut->close_when_sent(20s);
  CAF_CHECK_EQUAL(ends, 0u); // Not within the call.
  run_until([&] { return ends > 0; });
}

CAF_TEST(a callback may close) {
  start();
  on_frame = [this] { uut->close(); };
  write(frame("one") + frame("two"));
  run_until([&] { return !uut->is_open(); });
  settle();
  CAF_CHECK_EQUAL(frames.size(), 1u);
  CAF_CHECK_EQUAL(ends, 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
