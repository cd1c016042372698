// The line of `troupe run --progress`, on a terminal.

#include "tools/progress_line.hpp"

#include "adapters/log/fd_writer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "tests/adapters/process/world.hpp"

#include <fcntl.h>
#include <pty.h>

#include <chrono>
#include <cstdlib>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;

struct fixture : fixtures::world {
  fixture() {
    setenv("TERM", "xterm", 1);
    int fds[2];
    CAF_REQUIRE_EQUAL(openpty(&fds[0], &fds[1], nullptr, nullptr, nullptr), 0);
    user.reset(fds[0]);
    terminal.reset(fds[1]);
    fcntl(user.get(), F_SETFL, O_NONBLOCK);
    err = std::make_shared<fd_writer>(sys.loop(), terminal.get());
  }

  /// Whether this has come to the user, or comes within a time.
  bool sees(const std::string& what, std::chrono::milliseconds limit = 10s) {
    return run_until(
      [&] {
        char room[4096];
        const auto n = read(user.get(), room, sizeof(room));
        if (n > 0)
          seen.append(room, static_cast<size_t>(n));
        return seen.find(what) != std::string::npos;
      },
      limit);
  }

  unique_fd user;
  unique_fd terminal;
  std::shared_ptr<fd_writer> err;
  std::string seen;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(progress_line_tests, fixture)

CAF_TEST(OPS-T5 the line comes after a second and goes before other lines) {
  auto text = std::string{"started 1 of 2 nodes"};
  const auto begin = steady::now();
  progress_line uut{sys.loop(), err, nullptr, [&] { return text; }};
  CAF_REQUIRE(sees("\rtroupe: started 1 of 2 nodes\x1b[K\r"));
  // Timers count in ticks of the kernel.
  CAF_CHECK(steady::now() - begin >= 900ms);
  seen.clear();
  err->write("another\n");
  CAF_CHECK(sees("\r\x1b[Kanother\r\n"));
  // And comes again.
  seen.clear();
  CAF_CHECK(sees("troupe: started 1 of 2 nodes"));
  text = "started 2 of 2 \x1b[2Jnodes";
  CAF_CHECK(sees("troupe: started 2 of 2 \\x1b[2Jnodes"));
  seen.clear();
  text.clear();
  CAF_CHECK(sees("\r\x1b[K"));
}

CAF_TEST(OPS-T5 a line that ends is taken off) {
  auto uut = std::make_unique<progress_line>(sys.loop(), err, nullptr,
                                             [] { return std::string{"x"}; });
  CAF_REQUIRE(sees("troupe: x"));
  seen.clear();
  uut.reset();
  CAF_CHECK(sees("\r\x1b[K"));
  seen.clear();
  err->write("y");
  CAF_CHECK(sees("y"));
  CAF_CHECK_EQUAL(seen, "y");
}

CAF_TEST(OPS-T5 what takes less than a second has no line) {
  auto asked = 0;
  auto uut = std::make_unique<progress_line>(sys.loop(), err, nullptr, [&] {
    return std::string{++asked % 4 == 0 ? "" : "x"};
  });
  CAF_REQUIRE(run_until([&] { return asked == 9; }, 20s));
  uut.reset();
  CAF_CHECK(!sees("troupe", 10ms));
}

CAF_TEST(OPS-T5 there is none elsewhere) {
  CAF_CHECK(progress_line::is_possible(*err));
  setenv("TERM", "dumb", 1);
  CAF_CHECK(!progress_line::is_possible(*err));
  setenv("TERM", "xterm", 1);
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe2(fds, O_CLOEXEC), 0);
  const auto reader = unique_fd{fds[0]};
  const auto writer = unique_fd{fds[1]};
  CAF_CHECK(!progress_line::is_possible(fd_writer{sys.loop(), writer.get()}));
}

CAF_TEST_FIXTURE_SCOPE_END()
