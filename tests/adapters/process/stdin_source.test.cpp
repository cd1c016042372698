// The launcher's standard input, whatever it is, reaches its targets.

#include "adapters/process/stdin_source.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "tests/adapters/process/world.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>

#include <thread>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// A chain of bytes that shows loss, repetition and disorder.
std::string pattern(size_t size) {
  std::string result(size, '\0');
  for (size_t i = 0; i < size; ++i)
    result[i] = static_cast<char>(i * 7 + (i >> 8) * 31 + (i >> 16));
  return result;
}

struct fixture : fixtures::world {
  fixtures::scratch_folder folder;
  caf::actor source;
  std::thread writer;

  ~fixture() {
    source = nullptr;
    if (writer.joinable())
      writer.join();
  }

  void run_reader(uint32_t rank, const std::string& script) {
    auto x = shell(proc(rank), script);
    x.with_stdin = true;
    run(x);
  }

  void forward(int fd, std::vector<proc_id> targets) {
    stdin_source_settings settings;
    settings.fd = fd;
    settings.targets = std::move(targets);
    source = sys.actors().spawn(stdin_source, &sys.loop(), &sys.pool(),
                                launcher, settings);
  }

  /// Writes to `fd` as fast as it takes it, then closes it.
  void feed(int fd, std::string bytes) {
    writer = std::thread{[fd, bytes = std::move(bytes)] {
      for (size_t done = 0; done < bytes.size();) {
        const auto n = write(fd, bytes.data() + done, bytes.size() - done);
        if (n <= 0)
          break;
        done += static_cast<size_t>(n);
      }
      close(fd);
    }};
  }

  bool has_ended(const caf::actor& x) {
    return ask<int>(x, 0).refusal.has_value();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(stdin_source_tests, fixture)

CAF_TEST(F6.18 20 MB from a pipe reach a slow and a fast reader) {
  const auto bytes = pattern(20 << 20);
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "exec dd bs=1k status=none");
  run_reader(1, "exec cat");
  feed(fds[1], bytes);
  forward(fds[0], {proc(0), proc(1)});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)) && is_over(proc(1)); }));
  CAF_CHECK(heard[proc(0)].out() == bytes);
  CAF_CHECK(heard[proc(1)].out() == bytes);
  CAF_CHECK_EQUAL(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
  close(fds[0]);
}

CAF_TEST(nothing is read ahead of a target that does not read) {
  const auto bytes = pattern(1 << 20);
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "sleep 60");
  feed(fds[1], bytes);
  forward(fds[0], {proc(0)});
  run_for(200ms);
  // One window on its way, one pipe full on either side.
  int left = 0;
  ioctl(fds[0], FIONREAD, &left);
  CAF_CHECK(left > 0);
  send(signal_process{proc(0), SIGKILL});
  CAF_CHECK(run_until([&] { return is_over(proc(0)); }));
  close(fds[0]);
  signal(SIGPIPE, SIG_IGN);
}

CAF_TEST(a target that is gone is dropped and the others go on) {
  const auto bytes = pattern(3 << 20);
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "read line; exit 0");
  run_reader(1, "exec cat");
  feed(fds[1], bytes);
  forward(fds[0], {proc(0), proc(1), proc(99)});
  CAF_REQUIRE(run_until([&] { return is_over(proc(1)); }));
  CAF_CHECK(heard[proc(1)].out() == bytes);
  CAF_CHECK(has_ended(source));
  close(fds[0]);
}

CAF_TEST(the source ends when no target is left) {
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "exit 0");
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  forward(fds[0], {proc(0)});
  CAF_CHECK_EQUAL(write(fds[1], "x", 1), 1);
  CAF_CHECK(run_until([&] { return has_ended(source); }));
  forward(fds[0], {});
  CAF_CHECK(has_ended(source));
}

CAF_TEST(a regular file is read from where it stands) {
  const auto bytes = pattern(1 << 20);
  const auto fd =
    unique_fd{open(folder.file("input", bytes).c_str(), O_RDONLY)};
  lseek(fd.get(), 1000, SEEK_SET);
  run_reader(0, "exec cat");
  forward(fd.get(), {proc(0)});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(heard[proc(0)].out() == bytes.substr(1000));
}

CAF_TEST(devices and closed descriptors are at their end) {
  const auto null = unique_fd{open("/dev/null", O_RDONLY)};
  for (const auto fd : {null.get(), 987, -1}) {
    heard.clear();
    run_reader(0, "cat; echo end");
    forward(fd, {proc(0)});
    CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
    CAF_CHECK_EQUAL(heard[proc(0)].out(), "end\n");
    CAF_CHECK(has_ended(source));
  }
}

CAF_TEST(a socket is read without making it non blocking) {
  const auto bytes = pattern(1 << 20);
  int fds[2];
  CAF_REQUIRE_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  run_reader(0, "exec cat");
  feed(fds[1], bytes);
  forward(fds[0], {proc(0)});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(heard[proc(0)].out() == bytes);
  CAF_CHECK_EQUAL(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
  close(fds[0]);
}

CAF_TEST(a source that is told to end leaves the input alone) {
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "exec cat");
  forward(fds[0], {proc(0)});
  run_for(5ms);
  caf::anon_send_exit(source, caf::exit_reason::user_shutdown);
  run_for(5ms);
  CAF_CHECK_EQUAL(write(fds[1], "x", 1), 1);
  run_for(20ms);
  int left = 0;
  ioctl(fds[0], FIONREAD, &left);
  CAF_CHECK_EQUAL(left, 1);
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

/// What happens in a session whose terminal is `terminal`: a background process
/// forwards the terminal and is later put into the foreground.
/// @returns the exit code of the session: 0 if all went well.
int run_session(int terminal) {
  setsid();
  ioctl(terminal, TIOCSCTTY, 0);
  const auto child = fork();
  if (child == 0) {
    setpgid(0, 0); // Not the foreground group.
    fixture world;
    world.run_reader(0, "cat");
    world.forward(terminal, {world.proc(0)});
    const auto ok =
      world.run_until([&] { return world.is_over(world.proc(0)); }, 10s)
      && world.heard[world.proc(0)].out() == "typed\n";
    std::_Exit(ok ? 0 : 1);
  }
  setpgid(child, child);
  signal(SIGTTOU, SIG_IGN);
  // Input is there while the child is in the background: it must neither read
  // it nor be stopped.
  int wait_status = 0;
  const auto deadline = std::chrono::steady_clock::now() + 300ms;
  while (std::chrono::steady_clock::now() < deadline)
    if (waitpid(child, &wait_status, WUNTRACED | WNOHANG) != 0)
      return 2;
  int left = 0;
  ioctl(terminal, FIONREAD, &left);
  if (left != 6)
    return 3;
  tcsetpgrp(terminal, child);
  if (waitpid(child, &wait_status, WUNTRACED) != child)
    return 4;
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 5;
}

} // namespace

CAF_TEST(F6 a terminal is not read in the background and does not stop us) {
  int master = -1;
  int terminal = -1;
  CAF_REQUIRE_EQUAL(openpty(&master, &terminal, nullptr, nullptr, nullptr), 0);
  CAF_CHECK_EQUAL(write(master, "typed\n\x04", 7), 7); // Then the end, Ctrl-D.
  const auto session = fork();
  if (session == 0)
    std::_Exit(run_session(terminal));
  int wait_status = -1;
  waitpid(session, &wait_status, 0);
  CAF_CHECK_EQUAL(WEXITSTATUS(wait_status), 0);
}
