#include "adapters/loop/fd_watch.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/timer.hpp"
#include "tests/test.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

struct fixture {
  event_loop loop;
  std::array<int, 2> fds{};

  fixture() {
    CAF_REQUIRE_EQUAL(
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
  }

  ~fixture() {
    close(fds[0]);
    close(fds[1]);
  }

  void send(char c) {
    CAF_CHECK_EQUAL(write(fds[1], &c, 1), 1);
  }

  char receive() {
    char c = 0;
    return read(fds[0], &c, 1) == 1 ? c : '-';
  }

  /// Runs the loop for more passes than any test here needs.
  void settle() {
    auto passes = 20;
    std::optional<timer> next;
    next.emplace(loop, [&] {
      if (--passes == 0)
        loop.stop();
      else
        next->start(0ms);
    });
    next->start(0ms);
    loop.run();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(fd_watch_tests, fixture)

CAF_TEST(reading and writing are enabled one by one) {
  std::string trace;
  std::optional<fd_watch> watch;
  watch.emplace(
    loop, fds[0], [&] { trace += receive(); },
    [&] {
      trace += 'w';
      watch->disable_write();
    });
  send('a');
  settle();
  CAF_CHECK_EQUAL(trace, "");
  CAF_CHECK(watch->enable_read());
  CAF_CHECK(watch->reads());
  CAF_CHECK(!watch->writes());
  settle();
  CAF_CHECK_EQUAL(trace, "a");
  CAF_CHECK(watch->enable_write());
  settle();
  CAF_CHECK_EQUAL(trace, "aw");
  watch->disable_read();
  CAF_CHECK(!watch->reads());
  send('b');
  settle();
  CAF_CHECK_EQUAL(trace, "aw");
}

CAF_TEST(a descriptor stays readable until it is empty) {
  std::string trace;
  fd_watch watch{loop, fds[0], [&] { trace += receive(); }};
  CAF_CHECK(watch.enable_read());
  send('a');
  send('b');
  send('c');
  settle();
  CAF_CHECK_EQUAL(trace, "abc");
}

CAF_TEST(a hang up makes a descriptor readable) {
  std::string trace;
  std::optional<fd_watch> watch;
  watch.emplace(loop, fds[0], [&] {
    trace += receive();
    watch.reset();
  });
  CAF_CHECK(watch->enable_read());
  shutdown(fds[1], SHUT_RDWR);
  settle();
  CAF_CHECK_EQUAL(trace, "-");
}

CAF_TEST(a callback may destroy its watch even if the other is due) {
  auto calls = 0;
  const auto owned = std::make_shared<int>(0);
  std::optional<fd_watch> watch;
  const auto on_ready = [&, owned] {
    ++calls;
    watch.reset();
    CAF_CHECK_EQUAL(owned.use_count(), 3); // Ours, on_ready's, this one's.
  };
  watch.emplace(loop, fds[0], on_ready, on_ready);
  CAF_CHECK(watch->enable_read());
  CAF_CHECK(watch->enable_write());
  send('a');
  settle();
  CAF_CHECK_EQUAL(calls, 1);
  CAF_CHECK_EQUAL(owned.use_count(), 2);
}

CAF_TEST(a direction without callback cannot be enabled) {
  fd_watch watch{loop, fds[0], [] {}};
  CAF_CHECK(!watch.enable_write());
  CAF_CHECK(!watch.writes());
}

CAF_TEST(a regular file cannot be watched) {
  const auto fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  CAF_REQUIRE(fd >= 0);
  {
    fd_watch watch{loop, fd, [] {}};
    CAF_CHECK(!watch.enable_read());
    CAF_CHECK(!watch.reads());
  }
  close(fd);
}

CAF_TEST_FIXTURE_SCOPE_END()
